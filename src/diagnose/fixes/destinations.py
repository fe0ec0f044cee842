"""The devices that an edit writes, refused where what stands around them refutes them.

An edit may be Python, just what it says, and still move nothing or ask a number for its device. What it
newly writes as a destination (``.to(D)``, ``device=D``, ``map_location=D``) is held against the statement
that it stands in and the function around that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise

from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.device_patterns import destinations, has_parameters
from diagnose.placement.localization.availability import main_lines
from diagnose.placement.semantics import (
    Binding,
    Function,
    bindings_by,
    binds,
    binds_above,
    bound,
    bound_names,
    calls,
    defaults,
    dotted,
    loads,
    names,
    parameters,
    path_to,
    reads,
    top,
)
from diagnose.scene.calls import is_number, of_package

_PLACING = ("device", "map_location")
#: Annotations of what has no device, and words that only go with them.
_PLAIN = frozenset({"int", "float", "bool", "str", "complex", "slice", "Number"})
_BESIDE = frozenset({"Optional", "Union", "None", "typing", "t"})
#: Functions of Python whose results have no device, beside numbers.
_SLICES = frozenset({"slice", "range"})
#: Methods that are given a number: a dataset's item.
_BY_NUMBER = frozenset({"__getitem__"})
_CONTAINER = re.compile(
    r"(\w+\.)?([Ll]ist|[Tt]uple|[Dd]ict|Sequence|Mapping|Iterable|Collection)\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
#: Definitions that are followed to what a value is made of.
_FURTHER = 4


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
    before: ast.AST,
    after: Sequence[ast.AST],
    within: Sequence[ast.AST],
    torch: TorchNames,
    line: int | None = None,
) -> None:
    """Lets pass what an edit may write.

    Args:
        before: the node that it changes.
        after: what that becomes.
        within: what the node stands in, outermost first, as far as that is known.
        torch: what torch calls its things.
        line: where the statement stands in the file, if its own positions do not say.

    Raises:
        Refused: a device is that of what is not bound there, of what the function or class around shows to
            be a number or a text, of the parameters of a method, or of what it would move.
    """
    around = next((one for one in reversed(within) if isinstance(one, ast.stmt)), before)
    for new in after:
        # Beside a statement that stays, another one reads what that binds.
        statement = new if len(after) > 1 and isinstance(new, ast.stmt) else around
        for device in written([before], [new]):
            of = _asked(device)
            if _is_set_later(device, within):
                raise Refused(f"{ast.unparse(device)} is set after this has run")
            for one in _moved_to(new, device):
                _hold_move(one, of, within, torch)
            if of is not None:
                _hold_source(of, device, statement, within, torch)
            for name in names(device):
                if not reads(around, name) and is_unbound(name, within, line or _line(around)):
                    raise Refused(f"{name} is not bound where this line runs")


def _hold_move(
    value: ast.expr, of: ast.expr | None, within: Sequence[ast.AST], torch: TorchNames
) -> None:
    """Lets pass what moves to the device of something else."""
    if is_plain(value, within, torch):
        raise Refused(f"{ast.unparse(value)} is a number or a slice, and moves nowhere")
    if of is not None and dotted(of) in _made_of(value, _function(within), torch):
        raise Refused(f"{ast.unparse(value)} is where {ast.unparse(of)} is")


def _hold_source(
    of: ast.expr,
    device: ast.expr,
    statement: ast.AST,
    within: Sequence[ast.AST],
    torch: TorchNames,
) -> None:
    """Lets pass what is asked for its device, or for that of its parameters."""
    text = dotted(of) or ""
    bound_before = reads(statement, text) or _is_bound_above(of, statement, _function(within))
    if text in _bound_by(statement) and not bound_before:
        raise Refused(f"{text} is only bound by the statement that would ask for its device")
    if is_plain(of, within, torch):
        raise Refused(f"{text} is a number or a text, and has no device")
    if _is_several(of, _function(within)):
        raise Refused(f"{text} holds several values, and has no device")
    if "parameters" in ast.unparse(device) and _is_method(of, _owner(within)):
        raise Refused(f"{text} is a method, and has no parameters")
    if asks_own_weights(device) and not has_parameters(_owner(within)):
        raise Refused("the class has no parameters")


def asks_own_weights(device: ast.expr) -> bool:
    """Whether an expression for a device is that of the weights of the object that runs."""
    return any(dotted(one.func) == "self.parameters" for one in calls(device))


def is_unbound(name: str, within: Sequence[ast.AST], line: int) -> bool:
    """Whether a name is bound nowhere that a line sees.

    Args:
        name: the name.
        within: what the line stands in, outermost first, as far as that is known.
        line: its number in the file.
    """
    functions = [one for one in within if isinstance(one, Function)]
    if any(_is_default(outer, inner) for outer, inner in pairwise(within)):
        functions = functions[:-1]  # a default is computed before its function runs
    if any(name in bound_names(one) for one in within if isinstance(one, ast.expr)):
        return False  # by the comprehension that it stands in
    if functions and name in bound_names(functions[-1]):
        given = [one.arg for one in parameters(functions[-1])]
        return name not in given and not binds_above(functions[-1].body, name, line)
    if binds(name, *functions):
        return False
    if functions and name == "self":
        return True
    tree = within[0] if within else None
    return isinstance(tree, ast.Module) and _is_of_others(name, tree, line, inside=bool(functions))


def _is_default(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node is the default of a parameter."""
    return isinstance(outer, ast.arguments) and inner in (*outer.defaults, *outer.kw_defaults)


def _is_of_others(name: str, tree: ast.Module, line: int, *, inside: bool) -> bool:
    """Whether a file binds a name in other functions alone, or, for what stands inside one, only where it
    is run and not imported."""
    if not binds(name, tree):
        return False
    bound, script = [one for one in top(tree) if binds(name, one)], main_lines(tree)
    if not inside or any(one.lineno not in script for one in bound):
        return not bound
    return not bound or not _is_read(name, tree, {*script, line})


def _is_read(name: str, tree: ast.Module, but: Container[int]) -> bool:
    """Whether a function reads a name that it does not bind, in other lines than some."""
    paths = (path_to(tree, one) for one in loads(tree, name) if one.lineno not in but)
    scopes = ([one for one in path if isinstance(one, Function | ast.Lambda)] for path in paths)
    return any(not binds(name, *each) for each in scopes)


def _line(statement: ast.AST) -> int:
    return getattr(statement, "lineno", 0)


def _is_set_later(device: ast.expr, within: Sequence[ast.AST]) -> bool:
    """Whether a method runs before ``__init__``, which calls it, sets the attribute that is asked."""
    function, owner = _function(within), _owner(within)
    name = ".".join((dotted(device) or "").split(".")[:2])
    members = owner.body if owner is not None else []
    start = next((one for one in members if getattr(one, "name", "") == "__init__"), None)
    if function is None or start is None or not name.startswith("self."):
        return False
    runs = [one.lineno for one in calls(start) if dotted(one.func) == f"self.{function.name}"]
    sets = [one.target.lineno for one in bound(start, name)]
    return bool(runs and sets) and min(runs) < min(sets)


def _function(within: Sequence[ast.AST]) -> Function | None:
    return next((one for one in reversed(within) if isinstance(one, Function)), None)


def _owner(within: Sequence[ast.AST]) -> ast.ClassDef | None:
    return next((one for one in reversed(within) if isinstance(one, ast.ClassDef)), None)


def _moved_to(new: ast.AST, device: ast.expr) -> Iterator[ast.expr]:
    """What a node moves to a device."""
    for call in calls(new):
        match call:
            case ast.Call(func=ast.Attribute(value=one, attr="to"), args=[to, *_]) if to is device:
                yield one


def _made_of(
    value: ast.expr | None, function: ast.AST | None, torch: TorchNames, left: int = _FURTHER
) -> set[str]:
    """The tensors on whose device a value is by what it is made of: ``x`` and ``y`` of ``y.long()[0]``
    behind ``y = x.t()``."""
    found = set[str]()
    while value is not None:
        text = dotted(value)
        if text is not None:
            found.add(text)
            told = bound(function, text) if function is not None and left else []
            if len(told) == 1 and not isinstance(told[0].by, ast.AugAssign):
                found |= _made_of(told[0].value, function, torch, left - 1)
        match value:
            case ast.Call(func=ast.Attribute(value=of, attr=name)) if (
                name in torch.same_device and not of_package(of, torch)
            ):
                value = of
            case ast.Subscript(value=of):
                value = of
            case ast.Attribute(value=of, attr=name) if name in torch.tensor_attributes:
                value = of
            case _:
                value = None
    return found


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


def is_rebound(of: ast.expr, statement: ast.AST) -> bool:
    """Whether a statement binds anew what it reads."""
    return dotted(of) in _bound_by(statement)


def _is_bound_above(of: ast.expr, statement: ast.AST, function: Function | None) -> bool:
    """Whether a function binds a name above a statement or is given it; attributes are bound anywhere."""
    if function is None:
        return False
    if not isinstance(of, ast.Name):
        return function.name != "__init__"
    return of.id in bound_names(function, _line(statement))


def _is_several(of: ast.expr, function: Function | None) -> bool:
    """Whether a function shows by an annotation, or by what it asks of it, that a name holds several."""
    if function is None or not isinstance(of, ast.Name):
        return False
    said = (one.annotation for one in parameters(function) if one.arg == of.id and one.annotation)
    if any(_CONTAINER.match(ast.unparse(one)) for one in said):
        return True
    asked = {dotted(one.func) for one in calls(function, "items", "keys", "values", "append")}
    return any(one is not None and one.rpartition(".")[0] == of.id for one in asked)


def is_plain(of: ast.expr, within: Sequence[ast.AST], torch: TorchNames) -> bool:
    """Whether all that the function around, or of an attribute the class, says of a value says that it is a
    number, a text or a slice.

    Args:
        of: a name or an attribute.
        within: what it stands in, outermost first, as far as that is known.
        torch: what torch calls its things.
    """
    function, owner = _function(within), _owner(within)
    match of:
        case ast.Name(id=name) if function is not None:
            return _is_plain_in(name, function, torch)
        case ast.Attribute(value=ast.Name(id="self")) if owner is not None:
            told = bound(owner, dotted(of) or "")
            return bool(told) and all(_binds_plain(one, owner, torch) for one in told)
    return False


def _is_plain_in(name: str, function: Function, torch: TorchNames) -> bool:
    given = next((one for one in parameters(function) if one.arg == name), None)
    if given is not None:
        if given.annotation is not None:
            return _says_plain(given.annotation)
        default = defaults(function).get(name)
        return _is_plain_value(default, torch) or function.name in _BY_NUMBER
    told_by = bound(function, name)
    return bool(told_by) and all(_binds_plain(one, function, torch) for one in told_by)


def _binds_plain(one: Binding, scope: ast.AST, torch: TorchNames) -> bool:
    """Whether what is bound is a number, a text or a slice by its own expression."""
    value = one.by.value if isinstance(one.by, ast.AugAssign) else one.value
    match one.by:
        case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"))):
            return True
        case ast.AnnAssign(annotation=annotation):
            return _says_plain(annotation)
    match value:
        case ast.Name(id=name) if isinstance(scope, ast.ClassDef):
            methods = [each for each in scope.body if isinstance(each, Function)]
            return any(_is_plain_in(name, each, torch) for each in methods if one.by in each.body)
        case ast.Call(func=ast.Name(id=name)) if name in _SLICES:
            return True
    return _is_plain_value(value, torch)


def _is_plain_value(value: ast.expr | None, torch: TorchNames) -> bool:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return False
    made = isinstance(value, ast.Call) and of_package(value.func, torch)
    return not made and is_number(value, torch)


def _says_plain(annotation: ast.expr) -> bool:
    """Whether an annotation admits nothing that has a device."""
    kinds = {*_WORD.findall(ast.unparse(annotation))} - _BESIDE
    return bool(kinds) and kinds <= _PLAIN


def _is_method(of: ast.expr, owner: ast.ClassDef | None) -> bool:
    """Whether the class around says that what would be asked for its parameters is one of its methods."""
    match of:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return owner is not None and any(
                isinstance(one, Function) and one.name == name and not one.decorator_list
                for one in owner.body
            )
    return False
