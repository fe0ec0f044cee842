"""Edits of what an object keeps that is no module: it is brought to its device where it is used, once, and
kept there; by the object's own ``to``, if it has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from types import FrameType

import torch

from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.codemods.statements import before_statement
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import namespace
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Texts
from diagnose.placement import Spot
from diagnose.placement.semantics import bound_arguments, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.transfers import Move, own_spots

_KIND = "move-tensor-at-line"
#: So many running functions hand on what an object keeps.
_UP = 3


def keeping(error: BaseException) -> Iterator[Move]:
    """The edits, for each operand of the failing call that is on the cpu, and kept by what is no module.

    Args:
        error: a live failure that a recorder saw.
    """
    yield from _edits(error, of_modules=False)


def keeping_in_modules(error: BaseException) -> Iterator[Move]:
    """The edits for what is kept by modules that have nothing to move: to be tried when what is registered
    and moved with them did not help."""
    yield from _edits(error, of_modules=True)


def _edits(error: BaseException, *, of_modules: bool) -> Iterator[Move]:
    found = meeting(error)
    texts = Texts()
    running = own_spots(error, texts)
    if found is None or not running:
        return
    for stray, other in permutations(found.operands, 2):
        if stray.device != "cpu" or not other.device.startswith("cuda"):
            continue
        at, node, beside = 0, stray.side.node, other.side.node
        while (kept := _kept(node, running[at], texts)) is None and at + 1 < min(len(running), _UP):
            handed = _handed(running, texts, at, node)
            if handed is None:
                break
            at, node, beside = at + 1, handed, running[at + 1][1].node
        if kept is None or not isinstance(kept.value, ast.Name):
            continue
        owner = value(kept.value, running[at][0])
        if isinstance(owner, torch.nn.Module) != of_modules:
            continue
        if not of_modules:
            yield from _by_itself(running[at:], texts, kept.value, other.device)
        if not of_modules or not _is_moved(owner):
            yield from _stored(running[at], texts, kept, beside, other.device)


def _kept(node: ast.AST, running: tuple[FrameType, Spot], texts: Texts) -> ast.Attribute | None:
    """The attribute in an expression, if that is a tensor; for a variable, in what it was made of."""
    frame, spot = running
    text = texts.of(spot.file)
    made = assigned(node, text.function(spot.node), spot.line) if text is not None else None
    for one in nodes(made or node, ast.Attribute):
        if isinstance(value(one, frame), torch.Tensor):
            return one
    return None


def _handed(
    running: list[tuple[FrameType, Spot]], texts: Texts, at: int, node: ast.AST
) -> ast.expr | None:
    """What the caller of a running function gave it by the name that an expression is."""
    text = texts.of(running[at][1].file)
    function = text.function(running[at][1].node) if text is not None else None
    if not isinstance(node, ast.Name) or not isinstance(function, ast.FunctionDef):
        return None
    return bound_arguments(function, running[at + 1][1].node).get(node.id)


def _stored(
    running: tuple[FrameType, Spot], texts: Texts, kept: ast.Attribute, beside: ast.AST, wanted: str
) -> Iterator[Move]:
    """``self.table = self.table.to(x.device)`` before the line that takes it to use it with ``x``."""
    frame, spot = running
    text = texts.of(spot.file)
    if text is None:
        return
    statement, above = text.statement(spot.node), text.statement(kept)
    below = text.function(spot.node) if isinstance(above, ast.stmt) else None
    if isinstance(above, ast.stmt):
        statement = above
    holders = [one for one in nodes(beside, ast.expr) if _is_there(one, frame)]
    holders = [one for one in holders if not (below and assigned(one, below, spot.line))]
    devices = [*(f"{ast.unparse(one)}.device" for one in holders), *_devices(frame, wanted)]
    if not isinstance(statement, ast.stmt) or not devices:
        return
    name, device = ast.unparse(kept), devices[0]
    with suppress(Refused):
        code = f"{name} = {name}.to({device})"
        edit = file_edit(spot.source, [before_statement(spot.source, statement, code)])
        yield Move(_KIND, edit, moves=(name, device))


def _is_moved(module: torch.nn.Module) -> bool:
    """Whether a module has anything that a move would bring along: then a buffer is what is meant."""
    return any(True for _ in (*module.parameters(), *module.buffers()))


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
    given = bound_arguments(function, there.node).get(owner.id)
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
