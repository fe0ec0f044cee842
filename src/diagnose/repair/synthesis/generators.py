"""Edits of the generators that a failing call draws with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.replay import Met
from diagnose.kinds import EventKind, Origin
from diagnose.placement import Device
from diagnose.placement.devices import CPU, written
from diagnose.placement.semantics import dotted, nodes
from diagnose.repair.synthesis.definitions import defined, suspect_of
from diagnose.repair.synthesis.transfers import Move


def drawing(found: Met, stray: Operand) -> Iterator[Move]:
    """A generator is made where what it draws is, on the cpu or on a GPU; the loader that is running gets
    one of its own."""
    if stray.side.tensor.maker != Origin.GENERATOR:
        return
    wanted = CPU if stray.device != "cpu" else written(found.asked or "cuda")
    made = [(step.spot, ()) for step in stray.side.tensor.steps if step.what == EventKind.MADE]
    loader = found.lives.loader()
    stacks = [event.stack for event in loader.events] if loader is not None else []
    built = [(found.lives.texts.spot(stack[0]), stack) for stack in stacks if stack]
    for spot, stack in [*made, *built]:
        if spot is not None and isinstance(spot.node, ast.Call):
            yield from defined(found, "generator-on-device", stray, spot, stack, wanted)
    yield from _seeded(found, stray, wanted)


def _seeded(found: Met, stray: Operand, wanted: Device | None) -> Iterator[Move]:
    """The generator that ``torch.manual_seed`` gives, the cpu's, becomes one of its own."""
    spot, node = found.meeting.spot, stray.side.node
    text = found.lives.texts.of(spot.file)
    for one in nodes(text.function(spot.node), ast.Assign) if text is not None else ():
        match one:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Attribute(attr="manual_seed") as seed)
            ) if ast.unparse(target) == ast.unparse(node) and dotted(seed.value) == "torch":
                place = suspect_of(found, stray, spot._replace(node=seed), (), wanted, None)
                with suppress(Refused):
                    device = target_device(place, otherwise='"cuda"')
                    made = f"torch.Generator(device={device}).manual_seed"
                    edit = file_edit(spot.source, [replaced(spot.source, seed, made)])
                    yield Move("generator-on-device", edit)
