"""What turns a statement on: the literal by which a program chose the branch that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from diagnose.placement.model import Source, Spot
from diagnose.placement.semantics import (
    Function,
    argument,
    bound,
    called,
    calls,
    defaults,
    dotted,
    given_by_calls,
    lines_of,
    nodes,
    parameters,
    path_to,
)

#: Names that lead to other names, at most.
_FURTHER = 4


#: Causes of which a setting of the program is to be changed, where one turns on what causes them.
_SET = frozenset(
    {"zero-offload", "device-map-under-training", "low-memory-mode", "kernel-needs-gpu"}
)


def turned_on(cause: str, spot: Spot) -> Spot:
    """The switch that turns on what a cause is about, else the place itself."""
    return (switched_by(spot) if cause in _SET else None) or spot


def switched_by(spot: Spot) -> Spot | None:
    """Where the switch is set that a place depends on.

    Args:
        spot: a node of a branch.

    Returns:
        The literal, option or argument that turns the branch on; None where its condition is no switch, or
        is set at several places.
    """
    return _switched(spot.source, spot.node, _FURTHER)


def _switched(source: Source, node: ast.AST, left: int) -> Spot | None:
    """The switch of the innermost condition around a node, else around the only call of its function."""
    path = path_to(source.tree, node)
    for outer, inner in zip(reversed(path[:-1]), reversed(path), strict=False):
        if isinstance(outer, Function):
            found = calls(source.tree, outer.name)
            return _switched(source, found[0], left - 1) if left and len(found) == 1 else None
        if isinstance(outer, ast.ClassDef | ast.Lambda):
            return None
        if isinstance(outer, ast.If | ast.IfExp) and inner is not outer.test:
            return _set_at(_flag(outer.test), path, source, _FURTHER)
    return None


def set_at(spot: Spot) -> Spot | None:
    """Where a name, field or option is set that an expression reads; None for others, and for several."""
    if not isinstance(spot.node, ast.Name | ast.Attribute | ast.Subscript):
        return None
    return _set_at(spot.node, path_to(spot.source.tree, spot.node), spot.source, _FURTHER)


def chosen_at(source: Source, lines: Collection[int]) -> Spot | None:
    """Where the device is set that the calls of a line ask for; None where that is not to be seen.

    Args:
        source: the file.
        lines: the lines of it that the traceback shows, innermost first.
    """
    for line in lines:
        for call in calls(source.tree):
            if line in lines_of(call):
                device = _asked(call)
                if isinstance(device, ast.Constant) and device.value not in (None, "cuda", "cpu"):
                    return Spot(source, device)
                if isinstance(device, ast.List):
                    return Spot(source, device)
                path = path_to(source.tree, call)
                found = _set_at(_flag(device), path, source, _FURTHER) if device else None
                if found is not None and not isinstance(found.node, ast.Name | ast.Attribute):
                    return found
    return None


def _asked(call: ast.Call) -> ast.expr | None:
    """The device that a call asks for."""
    named = argument(call, "device") or argument(call, "device_ids")
    if named is not None or called(call) not in ("to", "cuda", "device", "set_device"):
        return named
    return call.args[-1] if call.args else None


def _flag(test: ast.expr) -> ast.expr | None:
    """The name that a condition asks, if it asks only whether that is on, or which one it is."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _flag(operand)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant()]):
            return _flag(left)
        case ast.Name() | ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str())):
            return test
    return None


def _set_at(flag: ast.expr | None, path: list[ast.AST], source: Source, left: int) -> Spot | None:
    if flag is None or left == 0:
        return None
    functions = [one for one in path if isinstance(one, Function)]
    function = functions[-1] if functions else None
    if (
        isinstance(flag, ast.Name)
        and function is not None
        and flag.id in (one.arg for one in parameters(function))
    ):
        return _passed(flag.id, function, source, left)
    found = list(_named(flag, source.tree)) or list(_kept(flag, source.tree))
    if len(found) != 1:
        return None
    value, name = found[0], function.name if function is not None else None
    if (further := _flag(value)) is not None and further is not flag:
        return _set_at(further, path_to(source.tree, value), source, left - 1)
    return Spot(source, value, name)


def _passed(name: str, function: Function, source: Source, left: int) -> Spot | None:
    """What a function's only call gives a parameter, else the parameter's default."""
    given = list(given_by_calls(source.tree, function, name))
    if len(given) == 1 and (value := given[0]) is not None:
        if (further := _flag(value)) is not None:
            return _set_at(further, path_to(source.tree, value), source, left - 1)
        return Spot(source, value, None)
    default = defaults(function).get(name)
    if default is None or any(value is not None for value in given):
        return None
    return Spot(source, default, None)


def _named(flag: ast.expr, tree: ast.Module) -> Iterator[ast.expr]:
    """What a name, an attribute or an item is set to: by assignments, options, fields and dicts."""
    match flag:
        case ast.Name():
            yield from _set_to(flag, tree)
        case ast.Attribute(attr=name, value=owner):
            own = isinstance(owner, ast.Name) and owner.id == "self"
            yield from _set_to(flag, tree) if own else ()
            for node in nodes(tree, ast.AnnAssign, ast.Call):
                match node:
                    case ast.AnnAssign(target=ast.Name(id=field), value=ast.expr() as value):
                        if field == name:
                            yield value
                    case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*said]):
                        kept = [one.value for one in node.keywords if one.arg == "dest"]
                        if not own and name in map(_option, kept or said):
                            yield node
        case ast.Subscript(slice=ast.Constant(value=key)):
            for entry in nodes(tree, ast.Dict, ast.keyword):
                if isinstance(entry, ast.Dict):
                    pairs = zip(entry.keys, entry.values, strict=True)
                    yield from (
                        v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key
                    )
                elif entry.arg == key:
                    yield entry.value


def _kept(flag: ast.expr, tree: ast.Module) -> Iterator[ast.expr]:
    """What an object keeps as the attribute that others ask it for."""
    if isinstance(flag, ast.Attribute):
        yield from _set_to(ast.Attribute(ast.Name("self"), flag.attr), tree)


def _set_to(flag: ast.expr, tree: ast.Module) -> Iterator[ast.expr]:
    """What assignments set a name or an attribute to."""
    values = (
        one.value for one in bound(tree, dotted(flag) or "") if isinstance(one.by, ast.Assign)
    )
    return (value for value in values if value is not None)


def _option(said: ast.expr) -> str:
    """The attribute that a command line option becomes."""
    text = said.value if isinstance(said, ast.Constant) else ""
    return text.lstrip("-").replace("-", "_") if isinstance(text, str) else ""
