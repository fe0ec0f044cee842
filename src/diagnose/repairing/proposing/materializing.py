"""Edits of what was made on the meta device, and has to be made where there is memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

import torch

from diagnose.casebase.store import load
from diagnose.fixes.definitions import define
from diagnose.fixes.definitions.arguments import drawing
from diagnose.fixes.definitions.places import ancestors, statement_of
from diagnose.fixes.definitions.statements import after_statement
from diagnose.fixes.definitions.target import target_device
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.hooks.replaying import Met
from diagnose.hooks.uncalled import Operand
from diagnose.placement import Device, Source, Spot
from diagnose.placement.devices import CPU
from diagnose.repairing.proposing.defining import defined, suspect_of
from diagnose.repairing.proposing.moving import Move
from diagnose.tracing.lives import Life


def within(found: Met, stray: Operand, wanted: Device | None) -> Iterator[Move]:
    """The ``with`` statement under which something was made on the meta device makes it elsewhere."""
    events = stray.life.events if stray.life is not None else ()
    for line in [line for event in events if event.what == "made" for line in event.stack]:
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
    if stray.device != "meta" or life is None:
        return
    for stack in [event.stack for event in life.events if event.what == "made"]:
        if stack and (spot := found.lives.texts.spot(stack[0])) is not None:
            suspect = suspect_of(found, stray, spot, stack, CPU, None)
            suspect = suspect._replace(cause="created-without-device", devices=('"cpu"',))
            with suppress(Refused):
                edit = define("create-on-device", suspect, torch=load().knowledge.torch)
                yield Move("create-on-device", edit, cause="meta-tensor")


def _of_buffer(found: Met, stray: Operand) -> Life | None:
    """The life of the buffer that an operand is, or is computed with; None for weights."""
    life = stray.life
    owner = life.module.module() if life is not None and life.module is not None else None
    if life is None or not isinstance(owner, torch.nn.Module):
        return life
    buffer = dict(owner.named_buffers(recurse=False)).get(life.name)
    return found.lives.recorder.tensors.get(buffer) if buffer is not None else None


def drawn(found: Met, stray: Operand) -> Iterator[Move]:
    """Layers that a checkpoint lacks get memory, and the values that they begin with, once it is loaded."""
    life = stray.life
    layer = life.module.module() if life is not None and life.module is not None else None
    if stray.device != "meta" or not hasattr(layer, "reset_parameters"):
        return
    for source in {spot.file: spot.source for spot in _running(found)}.values():
        for call in ast.walk(source.tree):
            match call:
                case ast.Call(func=ast.Attribute(attr="load_state_dict", value=ast.Name(id=model))):
                    spot = Spot(source, call)
                    suspect = suspect_of(found, stray, spot, (), Device("cuda"), None)
                    with suppress(Refused):
                        device = target_device(suspect, otherwise='"cuda"')
                        code = drawing(model, device)
                        change = after_statement(source, _outermost(source, call), code)
                        edit = file_edit(source, [change])
                        yield Move("materialize-meta", edit, cause="meta-tensor")


def _running(found: Met) -> Iterator[Spot]:
    spots = (found.lives.texts.spot(line) for _, line in found.lives.alive)
    return (spot for spot in spots if spot is not None)


def _outermost(source: Source, call: ast.Call) -> ast.stmt:
    """The statement of a call, or the outermost loop around it in its function."""
    statement = statement_of(source, call)
    for outer in reversed(ancestors(source, statement)[:-1]):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        statement = outer if isinstance(outer, ast.For | ast.While) else statement
    return statement
