"""Edits that leave on the cpu what has a kernel only there: layers that were quantized for it.

Nothing is apart there. What the program calls its device becomes the cpu, or the model is not moved and
what it is given comes to the cpu.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from types import FrameType

import torch

from diagnose import tracing
from diagnose.casebase.store import load
from diagnose.fixes.codemods import DEFINITIONS
from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.live_values import Lives
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Text, Texts
from diagnose.kinds import EventKind
from diagnose.placement import Spot, Suspect
from diagnose.placement.devices import CPU
from diagnose.placement.semantics import dotted, nodes, parent
from diagnose.repair.synthesis.transfers import (
    Move,
    Stray,
    change_of,
    operands_of,
    own_frames,
    own_spots,
    strays_of,
)

#: What torch says of an operator that has no kernel for a GPU.
_NO_KERNEL = "from the 'CUDA' backend"
_KIND = "no-to-on-quantized"
#: So many edits of what decides are proposed.
_MOST = 6
#: What asks for a GPU where there is one.
_FALLBACK = "is_available"


def retreating(error: BaseException) -> Iterator[Move]:
    """The edits: of what decides for a GPU, then of the calls of models, the outermost first.

    Args:
        error: a live failure.
    """
    recorder = tracing.witness(error)
    if recorder is None or _NO_KERNEL not in str(error):
        return
    texts = Texts()
    running = own_spots(error, texts)
    files = dict.fromkeys(spot.file for _, spot in running)
    yield from islice((one for file in files for one in _decided(texts.of(file))), _MOST)
    frames = own_frames(error)
    for frame, spot in reversed(running):
        if isinstance(spot.node, ast.Call) and (owner := _model(spot.node, frame)) is not None:
            lives = Lives(recorder, texts, frames, spot, frames)
            yield from _stayed(frame, spot, owner, lives)


def _decided(text: Text | None) -> Iterator[Move]:
    """What a program calls its device becomes the cpu: where it is made, where one is chosen, written."""
    kinds = (ast.Call, ast.IfExp, ast.Constant)
    found = nodes(text.source.tree, *kinds) if text is not None else ()
    for node in sorted(found, key=_rank):
        if text is None or not (made := _on_cpu(node, text)):
            continue
        with suppress(Refused):
            yield Move(_KIND, file_edit(text.source, [replaced(text.source, node, made)]))


def _rank(node: ast.expr) -> int:
    """What makes a device decides for all that follow it; what is written may be an option's default."""
    return [ast.Call, ast.IfExp, ast.Constant].index(type(node))


def _on_cpu(node: ast.expr, text: Text) -> str:
    """What an expression of a GPU would be for the cpu; nothing for others, and for what is moved right
    there."""
    outer = parent(text.source.tree, node)
    match node:
        case ast.Call(func=ast.Attribute(attr="device") | ast.Name(id="device"), args=[_]):
            return f'{text_of(text.source, node.func)}("cpu")'
        case ast.IfExp(test=test) if _FALLBACK in ast.unparse(test):
            return "" if _is_device(outer) else '"cpu"'
        case ast.Constant(value=str(name)) if name.partition(":")[0] == "cuda":
            kept = isinstance(outer, ast.Assign | ast.AnnAssign | ast.arguments)
            return '"cpu"' if kept or _is_option(outer) else ""
    return ""


def _is_device(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("device")


def _is_option(node: ast.AST | None) -> bool:
    return isinstance(node, ast.keyword) and node.arg in ("default", "device")


def _model(call: ast.Call, frame: FrameType) -> ast.expr | None:
    """The model that a call is of, unless a module calls itself."""
    func = call.func
    for owner in [func, func.value] if isinstance(func, ast.Attribute) else [func]:
        if isinstance(value(owner, frame), torch.nn.Module) and dotted(owner) != "self":
            return owner
    return None


def _stayed(frame: FrameType, spot: Spot, model: ast.expr, lives: Lives) -> Iterator[Move]:
    """The model is not moved, and what it is given comes to the cpu; or only that does."""
    operands = [one for one in operands_of(spot.node) if one is not model]
    strays = strays_of(operands, "cpu", frame)
    strays += [Stray(one, "one") for one in operands if isinstance(one, ast.Call)]
    given: list[Change] = []
    for one in strays:
        with suppress(Refused):
            given.append(change_of(spot, one, '"cpu"'))
    for event in lives.life_of(value(model, frame)).events:
        place = lives.texts.spot(event.stack[0]) if event.stack else None
        if event.what != EventKind.MOVED or place is None:
            continue
        with suppress(Refused):
            suspect = Suspect("", ast.unparse(model), place, None, CPU)
            stays = DEFINITIONS[_KIND](suspect, load().knowledge.torch)
            beside = given if place.source is spot.source else []
            yield Move(_KIND, file_edit(place.source, [*stays, *beside]))
    with suppress(Refused):
        if given:
            names = ", ".join(ast.unparse(one.node) for one in given)
            edit = file_edit(spot.source, given)
            yield Move("move-tensor-at-line", edit, moves=(names, '"cpu"'))
