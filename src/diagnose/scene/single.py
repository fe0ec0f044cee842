"""What met in a line whose message is of one tensor, or tells a rule instead of an argument.

"indices should be ... on the same device as the indexed tensor (cpu)" names neither; the line has a
subscript. A generator stands at ``generator=``, what becomes an array is what NumPy is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.model import Mismatch, TorchNames
from diagnose.placement.semantics import dotted
from diagnose.scene import calls


class Side(NamedTuple):
    """An expression that may be the misplaced one, and its device as far as the message tells it."""

    node: ast.expr
    device: str | None = None


def sides(
    nodes: Sequence[ast.AST],
    part: ast.AST | None,
    mismatch: Mismatch,
    torch: TorchNames,
    *,
    in_layer: bool,
) -> tuple[Side, ...]:
    """What may be misplaced in a line; nothing where the message is of another kind.

    Args:
        nodes: of the part of the line that failed.
        part: that part, where it is known.
        mismatch: what the message says.
        torch: how torch's functions call their operands.
        in_layer: whether it failed inside torch, called by the line.
    """
    if "index" in mismatch.says and mismatch.argument is None:
        return tuple(_indexed(nodes, mismatch.expected))
    if "generator" in mismatch.says:
        return tuple(_generators(nodes, mismatch.found))
    if "numpy" in mismatch.says:
        return tuple(_arrays(nodes, mismatch.found))
    if "lengths" in mismatch.says:
        return tuple(_lengths(nodes, mismatch.found, torch))
    if mismatch.argument is not None and (side := _keyword(nodes, mismatch, torch)) is not None:
        return (side,)
    weights = {"home-device", "meta"} & {*mismatch.says} or "meta" in (
        mismatch.found,
        mismatch.expected,
    )
    return tuple(_layer(nodes, part, torch)) if in_layer and weights else ()


def is_index(node: ast.expr) -> bool:
    """True for an index that may be a tensor: not a constant, a slice or a tuple of those."""
    if isinstance(node, ast.Tuple):
        return any(is_index(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return not isinstance(node, (ast.Constant, ast.Slice))


def _indexed(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    """The index and what it indexes, of the one subscript that has a tensor for an index."""
    found = [node for node in nodes if isinstance(node, ast.Subscript) and is_index(node.slice)]
    if len(found) != 1:
        return
    [subscript] = found
    listed = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]
    yield from (Side(one) for one in listed if is_index(one))
    yield Side(subscript.value, device)


def _generators(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    for call in calls.calls(tuple(nodes)):
        for keyword in call.keywords:
            if keyword.arg == "generator" and not isinstance(keyword.value, ast.Constant):
                yield Side(keyword.value, device)
                return


#: What a tensor is taken by before it becomes an array.
_TAKEN = frozenset({"detach", "numpy", "data"})
_NUMPY = frozenset({"np", "numpy", "cupy"})


def _arrays(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    """What ``x.detach().numpy()``, else ``np.asarray(x)``, makes an array of, if only one."""
    listed = list(calls.calls(tuple(nodes)))
    methods = [
        call.func.value
        for call in listed
        if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy"
    ]
    given = [
        call.args[0]
        for call in listed
        if (dotted(call.func) or "").partition(".")[0] in _NUMPY and call.args
    ]
    found = methods or given
    if len(found) == 1 and not isinstance(found[0], ast.Starred):
        yield Side(_taken(found[0]), device)


def _taken(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _TAKEN:
            return _taken(value)
        case ast.Attribute(value=value, attr="data"):
            return _taken(value)
    return node


def _lengths(nodes: Sequence[ast.AST], device: str | None, torch: TorchNames) -> Iterator[Side]:
    for call in calls.calls(tuple(nodes)):
        given = calls.parameters(call, torch).get("lengths")
        if given is not None:
            yield Side(given, device)
            return


def _keyword(nodes: Sequence[ast.AST], mismatch: Mismatch, torch: TorchNames) -> Side | None:
    """What a call passes by the name of the argument that the message names."""
    named = mismatch.argument or ""
    for call in calls.calls(tuple(nodes)):
        for keyword in call.keywords:
            if keyword.arg in (named, *torch.keywords.get(named, ())):
                return Side(keyword.value, mismatch.found)
    return None


def _layer(nodes: Sequence[ast.AST], part: ast.AST | None, torch: TorchNames) -> Iterator[Side]:
    """The one layer that is called, whose weights are not where they are looked for."""
    listed = [part] if isinstance(part, ast.Call) else list(calls.calls(tuple(nodes)))
    called = [call for call in listed if not calls.of_tensors(call, torch)]
    if len(called) != 1 or calls.is_known(called[0], torch):
        return
    if isinstance(called[0].func, (ast.Attribute, ast.Subscript, ast.Name)):
        yield Side(called[0].func)
