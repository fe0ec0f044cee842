"""Edits of what an object keeps that is no module: it is brought to its device where it is used, once, and
kept there; by the object's own ``to``, if it has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from types import FrameType

import torch

from diagnose.fixes.definitions.expressions import moved
from diagnose.fixes.definitions.statements import before_statement
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.hooks.operands import value
from diagnose.hooks.peeking import namespace
from diagnose.hooks.positions import Texts
from diagnose.placement import Spot
from diagnose.repairing.deciding import given_to
from diagnose.repairing.meeting import meeting
from diagnose.repairing.moving import Move, own_spots

_KIND = "move-tensor-at-line"


def keeping(error: BaseException) -> Iterator[Move]:
    """The edits, for each operand of the failing call that is on the cpu.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    texts = Texts()
    running = own_spots(error, texts)
    if found is None or not running:
        return
    for stray, other in permutations(found.operands, 2):
        if stray.device != "cpu" or not other.device.startswith("cuda"):
            continue
        node, beside = stray.side.node, other.side.node
        kept = next((one for one in ast.walk(node) if isinstance(one, ast.Attribute)), None)
        if kept is None or not isinstance(value(kept, running[0][0]), torch.Tensor):
            continue
        if isinstance(kept.value, ast.Name):
            yield from _by_itself(running, texts, kept.value, other.device)
            yield from _stored(running[0], texts, kept, beside)


def _stored(
    running: tuple[FrameType, Spot], texts: Texts, kept: ast.Attribute, beside: ast.AST
) -> Iterator[Move]:
    """``self.table = self.table.to(x.device)`` before the line that uses it with ``x``."""
    frame, spot = running
    text = texts.of(spot.file)
    if text is None or isinstance(value(kept.value, frame), torch.nn.Module):
        return
    statement = text.statement(spot.node)
    holders = [one for one in ast.walk(beside) if _is_there(one, frame)]
    if not isinstance(statement, ast.stmt) or not holders:
        return
    name, device = ast.unparse(kept), f"{ast.unparse(holders[0])}.device"
    with suppress(Refused):
        code = f"{name} = {name}.to({device})"
        edit = file_edit(spot.source, [before_statement(spot.source, statement, code)])
        yield Move(_KIND, edit, moves=(name, device))


def _is_there(node: ast.AST, frame: FrameType) -> bool:
    """Whether a name or an attribute is a tensor on a GPU."""
    held = value(node, frame) if isinstance(node, ast.Name | ast.Attribute) else None
    return isinstance(held, torch.Tensor) and held.device.type == "cuda"


def _by_itself(
    running: list[tuple[FrameType, Spot]], texts: Texts, owner: ast.Name, wanted: str
) -> Iterator[Move]:
    """An object that knows how to move itself is told to where a function is given it."""
    frame, spot = running[0]
    kinds = type(value(owner, frame)).__mro__
    if not any("to" in namespace(kind) for kind in kinds) or len(running) < 2:
        return
    (caller, there), text = running[1], texts.of(spot.file)
    function = text.function(spot.node) if text is not None else None
    if not isinstance(function, ast.FunctionDef):
        return
    given = dict(given_to(there.node, function)).get(owner.id)
    for device in _devices(caller, wanted) if given is not None else ():
        assert given is not None
        with suppress(Refused):
            edit = file_edit(there.source, [moved(there.source, given, device)])
            yield Move(_KIND, edit, moves=(ast.unparse(given), device))


def _devices(frame: FrameType, wanted: str) -> Iterator[str]:
    """The devices of the tensors that a function has there."""
    for name, held in list(frame.f_locals.items()):
        if isinstance(held, torch.Tensor) and str(held.device) == wanted:
            yield f"{name}.device"
            return
