"""Edits of what was made on the meta device, and has to be made where there is memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.arguments import drawing
from diagnose.fixes.codemods.positions import ancestors, statement_of
from diagnose.fixes.codemods.statements import after_statement
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import value
from diagnose.hooks.replay import Met
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement import Device, Spot
from diagnose.placement.devices import CPU
from diagnose.placement.semantics import calls
from diagnose.repair.synthesis.definitions import defined, suspect_of
from diagnose.repair.synthesis.transfers import Move
from diagnose.tracing.lives import Life


def within(found: Met, stray: Operand, wanted: Device | None) -> Iterator[Move]:
    """The ``with`` statement under which something was made on the meta device makes it elsewhere."""
    events = stray.life.events if stray.life is not None else ()
    for line in [line for event in events if event.what == EventKind.MADE for line in event.stack]:
        spot = found.lives.texts.spot(line)
        text = found.lives.texts.of(spot.file) if spot is not None else None
        if spot is None or text is None:
            continue
        around = text.around(spot.node, ast.With)
        for item in around.items if isinstance(around, ast.With) else ():
            place = spot._replace(node=item.context_expr)
            yield from defined(found, "materialize-meta", stray, place, (), wanted)


def in_memory(found: Met, stray: Operand) -> Iterator[Move]:
    """What no checkpoint holds, and was computed on the meta device, is made on the cpu."""
    life = _of_buffer(found, stray)
    if stray.device == "meta" and life is not None:
        yield from _made_in_memory(found, stray, [life])


def moved_with_tables(found: Met) -> Iterator[Move]:
    """All buffers on the meta device of a module that is moved, which no checkpoint holds, are made on the
    cpu."""
    for frame, line in reversed(found.lives.alive):
        spot = found.lives.texts.spot(line)
        match spot.node if spot is not None else None:
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda")):
                module = value(owner, frame)
                if isinstance(module, torch.nn.Module) and found.operands:
                    kept = [one for _, one in module.named_buffers() if one.is_meta]
                    lives = [found.lives.recorder.tensors.get(one) for one in kept]
                    known = [one for one in lives if one is not None]
                    yield from _made_in_memory(found, found.operands[0], known)


def _made_in_memory(found: Met, stray: Operand, lives: Sequence[Life]) -> Iterator[Move]:
    suspects = []
    for stack in [e.stack for life in lives for e in life.events if e.what == EventKind.MADE]:
        if stack and (spot := found.lives.texts.spot(stack[0])) is not None:
            suspect = suspect_of(found, stray, spot, stack, CPU, None)
            suspects.append(suspect._replace(cause="created-without-device", devices=('"cpu"',)))
    files = dict.fromkeys(one.spot.file for one in suspects)
    for first, *others in ([s for s in suspects if s.spot.file == file] for file in files):
        with suppress(Refused):
            edit = define("create-on-device", first, *others, torch=load().knowledge.torch)
            yield Move("create-on-device", edit, cause="meta-tensor")


def _of_buffer(found: Met, stray: Operand) -> Life | None:
    """The life of the buffer that an operand is, or is computed with; None for weights."""
    life = stray.life
    owner = life.module.module() if life is not None and life.module is not None else None
    if life is None or not isinstance(owner, torch.nn.Module):
        return life
    buffer = dict(owner.named_buffers(recurse=False)).get(life.name)
    return found.lives.recorder.tensors.get(buffer) if buffer is not None else None


def loaded(found: Met, stray: Operand) -> Iterator[Move]:
    """What a checkpoint is copied into, and has no memory, takes the checkpoint's tensors instead."""
    for spot in _loading(found) if stray.device == "meta" else ():
        call = spot.node
        if isinstance(call, ast.Call) and not any(one.arg == "assign" for one in call.keywords):
            for one in defined(found, "materialize-meta", stray, spot, (), None):
                yield one._replace(cause="meta-tensor")


def drawn(found: Met, stray: Operand) -> Iterator[Move]:
    """Layers that a checkpoint lacks get memory, and the values that they begin with, once it is loaded."""
    life = stray.life
    layer = life.module.module() if life is not None and life.module is not None else None
    if stray.device != "meta" or not hasattr(layer, "reset_parameters"):
        return
    for spot in _loading(found):
        match spot.node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=model))):
                suspect = suspect_of(found, stray, spot, (), Device(DeviceType.CUDA), None)
                with suppress(Refused):
                    device = target_device(suspect, otherwise='"cuda"')
                    code = drawing(model, device)
                    change = after_statement(spot.source, _outermost(spot), code)
                    edit = file_edit(spot.source, [change])
                    yield Move("materialize-meta", edit, cause="meta-tensor")


def _loading(found: Met) -> Iterator[Spot]:
    """The calls, in the files that run, by which a checkpoint is copied into a model."""
    for source in {spot.file: spot.source for spot in _running(found)}.values():
        for call in calls(source.tree):
            match call:
                case ast.Call(func=ast.Attribute(attr="load_state_dict")):
                    yield Spot(source, call)


def _running(found: Met) -> Iterator[Spot]:
    spots = (found.lives.texts.spot(line) for _, line in found.lives.alive)
    return (spot for spot in spots if spot is not None)


def _outermost(call: Spot) -> ast.stmt:
    """The statement of a call, or the outermost loop around it in its function."""
    statement = statement_of(call.source, call.node)
    for outer in reversed(ancestors(call.source, statement)[:-1]):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        statement = outer if isinstance(outer, ast.For | ast.While) else statement
    return statement
