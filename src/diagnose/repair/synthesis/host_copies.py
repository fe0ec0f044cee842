"""Edits of what a function of the host is given: the parts of a list that are on a GPU come to the host,
where they are appended to it or where it is handed on; a tensor becomes an array where it is made, if
methods of arrays are asked of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import around, replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_gate import Change
from diagnose.placement import Source
from diagnose.placement.semantics import calls, nodes
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed
from diagnose.repair.synthesis.transfers import operands_of

_TO_HOST = ".detach().cpu()"
#: Methods that arrays have, and tensors do not.
_OF_ARRAYS = frozenset({"astype", "tofile", "searchsorted", "ptp", "compress"})


def hosting(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: of the parts where the list is written, else of all that it holds."""
    if not failure.says("device type tensor to numpy"):
        return
    for running in failure.running:
        for given in operands_of(running.spot.node):
            yield from _appended(running.value(given), failure)
            yield from _as_array(given, running)
    for running in failure.running[:1]:
        node = running.spot.node
        put_together = filter(_has_lists, node.args) if isinstance(node, ast.Call) else ()
        for given in (*put_together, *operands_of(node)):
            yield from _to_host(running.source, _changes, given, running)


def _to_host(source: Source, *changes: Any) -> Iterator[Proposal]:
    yield from proposed("cpu-before-numpy", source, *changes, cause="host-copy-needed")


def _appended(held: Any, failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of where tensors are appended to a list: of numbers, numbers are kept."""
    if type(held) is not list or not held or not all(map(_is_away, held)):
        return
    endings = [".item()", _TO_HOST] if all(one.dim() == 0 for one in held) else [_TO_HOST]
    for source in failure.sources:
        for node in calls(source.tree, "append"):
            match node:
                case ast.Call(func=ast.Attribute(value=into), args=[part]):
                    if any(one.value(into) is held for one in failure.running):
                        for ending in endings:
                            yield from _to_host(source, _ended, part, ending)


def _ended(source: Source, node: ast.expr, ending: str) -> Change:
    """The change of an expression that ends with other calls then, in place of ``.detach()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            return replaced(source, node, f"{text_of(source, inner)}{ending}")
    return around(source, node, "", ending)


def _as_array(given: ast.expr, running: Running) -> Iterator[Proposal]:
    """The edit by which a tensor is an array from where it is made on, if NumPy's methods follow."""
    held = running.value(given)
    made = running.assigned(given) if _is_away(held) else None
    asked = (one.attr for one in nodes(running.scope, ast.Attribute))
    if made is not None and not _OF_ARRAYS.isdisjoint(asked):
        yield from _to_host(running.source, around, made, "", f"{_copied(held)}.numpy()")


def _copied(held: torch.Tensor) -> str:
    return _TO_HOST if held.requires_grad else ".cpu()"


def _changes(source: Source, given: ast.expr, running: Running) -> list[Change]:
    held = _held(given, running)
    for node in (given, running.assigned(given)):
        if isinstance(node, ast.List | ast.Tuple) and not _has_lists(node):
            stray = [one for one in node.elts if _is_away(running.value(one))]
            return [around(source, one, "", _TO_HOST) for one in stray]
    if isinstance(held, list | tuple) and held and all(map(_is_tensor, held)):
        return [around(source, given, f"[v{_TO_HOST} for v in ", "]")]
    return [around(source, given, "", _copied(held))] if _is_away(held) else []


def _has_lists(node: ast.expr) -> bool:
    """Whether a list takes in others: ``[*rows, last]``."""
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else ()
    return any(isinstance(one, ast.Starred) for one in parts)


def _held(node: ast.expr, running: Running) -> Any:
    """What an expression holds; of a sum of lists, and of a list that is written down, a list."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            one, other = _held(left, running), _held(right, running)
            return [*one, *other] if type(one) is type(other) is list else None
        case ast.List(elts=parts):
            held = list[Any]()
            for part in parts:
                many = _held(part.value, running) if isinstance(part, ast.Starred) else None
                held += many if isinstance(many, list) else [running.value(part)]
            return held
    return running.value(node)


def _is_tensor(held: Any) -> bool:
    return isinstance(held, torch.Tensor)


def _is_away(held: Any) -> bool:
    return isinstance(held, torch.Tensor) and held.device.type == "cuda"
