"""GPUs that a program counts off: one for each fold, seed or worker, however many the machine has."""

from __future__ import annotations

import ast

from diagnose.placement.model import Source
from diagnose.placement.signatures import given_by_calls, parameters
from diagnose.placement.walking import path_to, walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: How the texts begin that end in the number of a GPU.
_HEADS = ("cuda:", "cuda:%d", "cuda:%s", "cuda:%i", "cuda:{}")
#: Calls that hand a number on, at most.
_FURTHER = 3


def counted(source: Source, device: ast.expr) -> ast.Name | None:
    """The variable that numbers a GPU, of a device as it is written, if it counts turns of a loop.

    Args:
        source: the file.
        device: ``f"cuda:{fold}"``, ``torch.device("cuda", fold)``, ``fold`` where a number is a device ...
    """
    number = _number(device)
    return number if number is not None and _is_counted(source, number, _FURTHER) else None


def _number(device: ast.expr) -> ast.Name | None:
    """The variable that a device ends in."""
    match device:
        case ast.Name():
            return device
        case ast.JoinedStr(
            values=[
                ast.Constant(value=head),
                ast.FormattedValue(value=ast.Name() as name, format_spec=None),
            ]
        ) if head in _HEADS:
            return name
        case ast.BinOp(
            left=ast.Constant(value=head),
            op=ast.Add(),
            right=ast.Call(func=ast.Name(id="str"), args=[ast.Name() as name]),
        ) if head in _HEADS:
            return name
        case ast.BinOp(left=ast.Constant(value=head), op=ast.Mod(), right=ast.Name() as name) if (
            head in _HEADS
        ):
            return name
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=head), attr="format"),
            args=[ast.Name() as name],
        ) if head in _HEADS:
            return name
        case ast.Call(
            func=ast.Name(id="device") | ast.Attribute(attr="device"),
            args=[ast.Constant(value="cuda"), ast.Name() as name],
        ):
            return name
        case ast.Call(func=ast.Name(id="device") | ast.Attribute(attr="device"), args=[inner]):
            return _number(inner)
    return None


def _is_counted(source: Source, name: ast.Name, left: int) -> bool:
    """Whether a loop around a variable counts by it and nothing else sets it there, or it is a parameter
    that all calls give such a variable."""
    around = path_to(source.tree, name)[:-1]
    inner = next((one for one in reversed(around) if isinstance(one, _Function)), None)
    if inner is not None and name.id in parameters(inner):
        given = list(given_by_calls(source.tree, inner, name.id)) if left else []
        return bool(given) and all(
            isinstance(one, ast.Name) and _is_counted(source, one, left - 1) for one in given
        )
    for outer in reversed(around):
        loops = [outer, *getattr(outer, "generators", ())]
        loop = next((one for one in loops if _binds(one, name.id)), None)
        if loop is not None or isinstance(outer, _Function):
            others = (one for one in walk(outer) if one is not loop)
            return _counts(loop, name.id) and not any(_binds(one, name.id) for one in others)
    return False


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a loop, an assignment or another statement binds a name."""
    match node:
        case ast.For(target=target) | ast.comprehension(target=target):
            targets = [target]
        case ast.Assign():
            targets = node.targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            targets = [target]
        case _:
            return False
    names = (one for target in targets for one in walk(target) if isinstance(one, ast.Name))
    return any(one.id == name and isinstance(one.ctx, ast.Store) for one in names)


def _counts(node: ast.AST | None, name: str) -> bool:
    """Whether a loop counts by a name, and not the GPUs that there are."""
    match node:
        case ast.For(target=target, iter=counter) | ast.comprehension(target=target, iter=counter):
            pass
        case _:
            return False
    match counter:
        case ast.Call(func=ast.Name(id="range")):
            by = target
        case ast.Call(func=ast.Name(id="enumerate")) if isinstance(target, ast.Tuple):
            by = target.elts[0]
        case _:
            return False
    counts_gpus = any(word in ast.unparse(counter) for word in ("device_count", "gpu", "cuda"))
    return isinstance(by, ast.Name) and by.id == name and not counts_gpus
