"""Edits of what was made on the meta device, and has to be made where there is memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

import torch

from diagnose.casebase.store import load
from diagnose.fixes.definitions import define
from diagnose.fixes.editing import Refused
from diagnose.hooks.replaying import Met
from diagnose.hooks.uncalled import Operand
from diagnose.placement import Device
from diagnose.placement.devices import CPU
from diagnose.repairing.defining import defined, suspect_of
from diagnose.repairing.moving import Move
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
