"""Edits of what a function of the host is given: the parts of a list that are on a GPU come to the host,
where they are appended to it or where it is handed on; a tensor becomes an array where it is made, if
methods of arrays are asked of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import around, replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Source, Spot
from diagnose.placement.semantics import calls, nodes
from diagnose.repair.synthesis.transfers import Move, operands_of, own_spots

_REFUSED = "device type tensor to numpy"
_TO_HOST = ".detach().cpu()"
#: Methods that arrays have, and tensors do not.
_OF_ARRAYS = frozenset({"astype", "tofile", "searchsorted", "ptp", "compress"})


def hosting(error: BaseException) -> Iterator[Move]:
    """The edits: of the parts where the list is written, else of all that it holds.

    Args:
        error: a live failure.
    """
    if _REFUSED not in str(error):
        return
    texts = Texts()
    running = own_spots(error, texts)
    for frame, spot in running:
        for given in operands_of(spot.node):
            yield from _appended(value(given, frame), running)
            yield from _as_array(given, frame, spot, texts)
    for frame, spot in running:
        if (text := texts.of(spot.file)) is None:
            continue
        for given in (*_put_together(spot.node), *operands_of(spot.node)):
            changes = _changes(spot.source, text, given, frame)
            with suppress(Refused):
                if changes:
                    edit = file_edit(spot.source, changes)
                    yield Move("cpu-before-numpy", edit, cause="host-copy-needed")
        return


def _appended(held: Any, running: list[tuple[FrameType, Spot]]) -> Iterator[Move]:
    """The edits of where tensors are appended to a list: of numbers, numbers are kept."""
    if type(held) is not list or not held or not all(map(_is_away, held)):
        return
    endings = [".item()", _TO_HOST] if all(one.dim() == 0 for one in held) else [_TO_HOST]
    for source in {spot.file: spot.source for _, spot in running}.values():
        for node in calls(source.tree):
            match node:
                case ast.Call(func=ast.Attribute(value=into, attr="append"), args=[part]):
                    if any(value(into, frame) is held for frame, _ in running):
                        for ending in endings:
                            yield from _ended(source, part, ending)


def _ended(source: Source, node: ast.expr, ending: str) -> Iterator[Move]:
    """The edit of an expression that ends with other calls then, in place of ``.detach()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            change = replaced(source, node, f"{text_of(source, inner)}{ending}")
        case _:
            change = around(source, node, "", ending)
    with suppress(Refused):
        yield Move("cpu-before-numpy", file_edit(source, [change]), cause="host-copy-needed")


def _as_array(given: ast.expr, frame: FrameType, spot: Spot, texts: Texts) -> Iterator[Move]:
    """The edit by which a tensor is an array from where it is made on, if NumPy's methods follow."""
    text, held = texts.of(spot.file), value(given, frame)
    scope = text.function(given) if text is not None else given
    made = assigned(given, scope, given.lineno) if _is_away(held) else None
    if made is not None and any(one.attr in _OF_ARRAYS for one in nodes(scope, ast.Attribute)):
        detached = ".detach()" if held.requires_grad else ""
        with suppress(Refused):
            edit = file_edit(
                spot.source, [around(spot.source, made, "", f"{detached}.cpu().numpy()")]
            )
            yield Move("cpu-before-numpy", edit, cause="host-copy-needed")


def _changes(source: Source, text: Text, given: ast.expr, frame: FrameType) -> list[Change]:
    held = _held(given, frame)
    written = assigned(given, text.function(given), given.lineno)
    for node in (given, written):
        if isinstance(node, ast.List | ast.Tuple) and not _has_lists(node):
            stray = [one for one in node.elts if _is_away(value(one, frame))]
            return [around(source, one, "", _TO_HOST) for one in stray]
    if isinstance(held, list | tuple) and held and all(map(_is_tensor, held)):
        return [around(source, given, f"[v{_TO_HOST} for v in ", "]")]
    if _is_away(held):
        return [around(source, given, "", f"{'.detach()' if held.requires_grad else ''}.cpu()")]
    return []


def _put_together(node: ast.AST) -> list[ast.expr]:
    """The lists among a call's arguments that take in others: ``[*rows, last]``."""
    return [one for one in node.args if _has_lists(one)] if isinstance(node, ast.Call) else []


def _has_lists(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else ()
    return any(isinstance(one, ast.Starred) for one in parts)


def _held(node: ast.expr, frame: FrameType) -> Any:
    """What an expression holds; of a sum of lists, and of a list that is written down, a list."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            one, other = _held(left, frame), _held(right, frame)
            return [*one, *other] if type(one) is type(other) is list else None
        case ast.List(elts=parts):
            held = list[Any]()
            for part in parts:
                many = _held(part.value, frame) if isinstance(part, ast.Starred) else None
                held += many if isinstance(many, list) else [value(part, frame)]
            return held
    return value(node, frame)


def _is_tensor(held: Any) -> bool:
    return isinstance(held, torch.Tensor)


def _is_away(held: Any) -> bool:
    return isinstance(held, torch.Tensor) and held.device.type == "cuda"
