"""Edits of where a function binds what it uses several times: it is brought there to what it meets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations

import torch

from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import assigned, value
from diagnose.placement import Spot
from diagnose.placement.semantics import nodes
from diagnose.placement.tensors import Module
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.transfers import Move


def binding(error: BaseException) -> Iterator[Move]:
    """The edits: ``grad = p.grad.float().to(state.device)``, of each variable of the failing line that is
    where the stray operand is, told by what that meets.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is None or not found.lives.alive:
        return
    spot, (frame, line) = found.meeting.spot, found.lives.alive[-1]
    text = found.lives.texts.of(spot.file)
    scope = text.function(spot.node) if text is not None else None
    for stray, other in permutations(found.operands, 2):
        device = _told(other)
        if scope is None or device is None or stray.device == other.device:
            continue
        for node in nodes(stray.side.node, ast.Name):
            there = _is_there(value(node, frame), stray)
            bound = assigned(node, scope, line.number) if there else None
            if bound is not None:
                yield from _moved_where_bound(spot, bound, device)


def _told(other: Operand) -> str | None:
    """How the line tells where the other operand is; ``m.mul_(b)`` is ``m`` itself."""
    node = other.side.node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if not node.func.attr.endswith("_"):
            return None
        node = node.func.value
    if isinstance(node, ast.Name | ast.Attribute) and not isinstance(other.side.value, Module):
        return f"{ast.unparse(node)}.device"
    return None


def _is_there(held: object, stray: Operand) -> bool:
    return isinstance(held, torch.Tensor) and str(held.device) == stray.device and held.dim() > 0


def _moved_where_bound(spot: Spot, bound: ast.expr, device: str) -> Iterator[Move]:
    with suppress(Refused):
        edit = file_edit(spot.source, [moved(spot.source, bound, device)])
        yield Move("move-tensor-at-line", edit, moves=(ast.unparse(bound), device))
