"""The devices that an edit writes, refused where what stands around them refutes them.

An edit may be Python, just what it says, and still move nothing or ask a number for its device. What it
newly writes as a destination (``.to(D)``, ``device=D``, ``map_location=D``) is held against the statement
that it stands in and the function around that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.device_patterns import destinations
from diagnose.placement.semantics import (
    Function,
    bindings_by,
    bound,
    bound_names,
    dotted,
    nodes,
    reads,
)
from diagnose.scene.calls import is_number, of_package

_PLACING = ("device", "map_location")
#: Annotations of what has no device.
_PLAIN = frozenset({"int", "float", "bool", "str", "complex"})


def written(before: Iterable[ast.AST], after: Iterable[ast.AST]) -> list[ast.expr]:
    """The destinations that stand in the nodes after an edit and not in those before."""
    had = {ast.unparse(one) for node in before for one in destinations(node, *_PLACING)}
    return [
        one
        for node in after
        for one in destinations(node, *_PLACING)
        if ast.unparse(one) not in had
    ]


def hold(
    before: ast.AST, after: Sequence[ast.AST], within: Sequence[ast.AST], torch: TorchNames
) -> None:
    """Lets pass what an edit may write.

    Args:
        before: the node that it changes.
        after: what that becomes.
        within: what the node stands in, outermost first, as far as that is known.
        torch: what torch calls its things.

    Raises:
        Refused: a device is that of what its statement is only about to bind, of what the function around
            shows to be a number or a text, or of the parameters of a method.
    """
    function = next((one for one in reversed(within) if isinstance(one, Function)), None)
    owner = next((one for one in reversed(within) if isinstance(one, ast.ClassDef)), None)
    around = next((one for one in reversed(within) if isinstance(one, ast.stmt)), before)
    for new in after:
        # Beside a statement that stays, another one reads what that binds.
        statement = new if len(after) > 1 and isinstance(new, ast.stmt) else around
        for device in written([before], [new]):
            if (of := _asked(device)) is None:
                continue
            text = dotted(of) or ""
            if text in _bound_by(statement) and not (
                reads(statement, text) or _is_bound_above(of, statement, function)
            ):
                raise Refused(
                    f"{text} is only bound by the statement that would ask for its device"
                )
            if isinstance(of, ast.Name) and function and _is_plain(of.id, function, torch):
                raise Refused(f"{text} is a number or a text, and has no device")
            if "parameters" in ast.unparse(device) and _is_method(of, owner):
                raise Refused(f"{text} is a method, and has no parameters")


def _asked(device: ast.expr) -> ast.expr | None:
    """What is asked for its device: ``x`` of ``x.device`` and of ``next(x.parameters()).device``."""
    match device:
        case ast.Attribute(
            value=ast.Call(args=[ast.Call(func=ast.Attribute(value=of))]), attr="device"
        ):
            return of
        case ast.Attribute(value=ast.Name() | ast.Attribute() as of, attr="device"):
            return of
    return None


def _bound_by(statement: ast.AST) -> set[str | None]:
    """The names and attributes that a statement binds anew, and does not only change."""
    anew = (one for one in bindings_by(statement) if not isinstance(one.by, ast.AugAssign))
    return {dotted(one.target) for one in anew}


def _is_bound_above(of: ast.expr, statement: ast.AST, function: Function | None) -> bool:
    """Whether a function binds a name above a statement or is given it; attributes are bound anywhere."""
    if function is None:
        return False
    if not isinstance(of, ast.Name):
        return function.name != "__init__"
    return of.id in bound_names(function, getattr(statement, "lineno", 0))


def _is_plain(name: str, function: Function, torch: TorchNames) -> bool:
    """Whether all that a function says of a name says that it is a number or a text."""
    given = next((one for one in nodes(function, ast.arg) if one.arg == name), None)
    if given is not None:
        return given.annotation is not None and dotted(given.annotation) in _PLAIN
    values = [
        one.by.value if isinstance(one.by, ast.AugAssign) else one.value
        for one in bound(function, name)
    ]
    # What a loop or a call's tuple binds is not told by an expression of its own.
    numbers = (one for one in values if one is not None and is_number(one, torch))
    plain = [one for one in numbers if not of_package(getattr(one, "func", one), torch)]
    return bool(values) and len(plain) == len(values)


def _is_method(of: ast.expr, owner: ast.ClassDef | None) -> bool:
    """Whether the class around says that what would be asked for its parameters is one of its methods."""
    match of:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return owner is not None and any(
                isinstance(one, Function) and one.name == name and not one.decorator_list
                for one in owner.body
            )
    return False
