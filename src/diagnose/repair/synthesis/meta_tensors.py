"""Edits of what was made on the meta device, and has to be made where there is memory; of generators that
are made where what they draw is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.arguments import drawing as drawing_code
from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import ancestors, statement_of
from diagnose.fixes.codemods.statements import after_statement
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement import Device, Source, Spot, Suspect
from diagnose.placement.devices import CPU, written
from diagnose.placement.semantics import around, calls, dotted, nodes, scope_of
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, proposed
from diagnose.tracing.lives import Life
from diagnose.tracing.stacks import Stack

_KIND, _CAUSE = "materialize-meta", "meta-tensor"


def within(failure: LiveFailure, stray: Operand, wanted: Device | None) -> Iterator[Proposal]:
    """The ``with`` statement under which something was made on the meta device makes it elsewhere."""
    for stack in _made(stray.life):
        for spot in filter(None, map(failure.texts.spot, stack)):
            block = next(around(spot.source.tree, spot.node, ast.With), None)
            for item in block.items if block is not None else ():
                place = spot._replace(node=item.context_expr)
                yield from failure.defined(_KIND, stray, place, (), wanted)


def in_memory(failure: LiveFailure, stray: Operand) -> Iterator[Proposal]:
    """What no checkpoint holds, and was computed on the meta device, is made on the cpu."""
    life = _of_buffer(failure, stray)
    if stray.device == "meta" and life is not None:
        yield from _made_in_memory(failure, stray, [life])


def moved_with_tables(failure: LiveFailure) -> Iterator[Proposal]:
    """All buffers on the meta device of a module that is moved, which no checkpoint holds, are made on the
    cpu."""
    for running in failure.running if failure.operands else ():
        match running.spot.node:
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda")):
                module = running.value(owner)
                if isinstance(module, torch.nn.Module):
                    kept = [one for _, one in module.named_buffers() if one.is_meta]
                    lives = [failure.lives.recorder.tensors.get(one) for one in kept]
                    known = [one for one in lives if one is not None]
                    yield from _made_in_memory(failure, failure.operands[0], known)


def _made_in_memory(
    failure: LiveFailure, stray: Operand, lives: Sequence[Life]
) -> Iterator[Proposal]:
    by_file: dict[str, list[Suspect]] = {}
    for stack in [stack for life in lives for stack in _made(life)]:
        if stack and (spot := failure.texts.spot(stack[0])) is not None:
            suspect = failure.suspect(stray, spot, stack, CPU)
            suspect = suspect._replace(cause="created-without-device", devices=('"cpu"',))
            by_file.setdefault(spot.file, []).append(suspect)
    for first, *others in by_file.values():
        with suppress(Refused):
            edit = define("create-on-device", first, *others, torch=load().knowledge.torch)
            yield Proposal("create-on-device", edit, cause=_CAUSE)


def _made(life: Life | None) -> list[Stack]:
    """How the program came to where something was made."""
    return [one.stack for one in life.events if one.what == EventKind.MADE] if life else []


def _of_buffer(failure: LiveFailure, stray: Operand) -> Life | None:
    """The life of the buffer that an operand is, or is computed with; None for weights."""
    life, owner = stray.life, _module_of(stray)
    if life is None or not isinstance(owner, torch.nn.Module):
        return life
    buffer = dict(owner.named_buffers(recurse=False)).get(life.name)
    return failure.lives.recorder.tensors.get(buffer) if buffer is not None else None


def _module_of(stray: Operand) -> object:
    """The module that an operand belongs to."""
    return stray.life.module.module() if stray.life and stray.life.module else None


def loaded(failure: LiveFailure, stray: Operand) -> Iterator[Proposal]:
    """What a checkpoint is copied into, and has no memory, takes the checkpoint's tensors instead."""
    for spot in _loading(failure) if stray.device == "meta" else ():
        if not any(one.arg == "assign" for one in nodes(spot.node, ast.keyword)):
            for one in failure.defined(_KIND, stray, spot, (), None):
                yield one._replace(cause=_CAUSE)


def drawn(failure: LiveFailure, stray: Operand) -> Iterator[Proposal]:
    """Layers that a checkpoint lacks get memory, and the values that they begin with, once it is loaded."""
    if stray.device == "meta" and hasattr(_module_of(stray), "reset_parameters"):
        for spot in _loading(failure):
            match spot.node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=model))):
                    suspect = failure.suspect(stray, spot, (), Device(DeviceType.CUDA))
                    begun = (_begun, suspect, model)
                    yield from proposed(_KIND, spot.source, *begun, cause=_CAUSE)


def _begun(source: Source, suspect: Suspect, model: str) -> Change:
    code = drawing_code(model, target_device(suspect, otherwise='"cuda"'))
    return after_statement(source, _outermost(suspect.spot), code)


def _loading(failure: LiveFailure) -> Iterator[Spot]:
    """The calls, in the files that run, by which a checkpoint is copied into a model."""
    for source in failure.sources:
        for call in calls(source.tree, "load_state_dict"):
            if isinstance(call.func, ast.Attribute):
                yield Spot(source, call)


def _outermost(call: Spot) -> ast.stmt:
    """The statement of a call, or the outermost loop around it in its function."""
    statement = statement_of(call.source, call.node)
    for outer in reversed(ancestors(call.source, statement)[:-1]):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        statement = outer if isinstance(outer, ast.For | ast.While) else statement
    return statement


def drawing(failure: LiveFailure, stray: Operand) -> Iterator[Proposal]:
    """A generator is made where what it draws is, on the cpu or on a GPU; the loader that is running gets
    one of its own; the cpu's, which ``torch.manual_seed`` gives, becomes one of its own."""
    if stray.side.tensor.maker != Origin.GENERATOR:
        return
    kind = "generator-on-device"
    wanted = CPU if stray.device != "cpu" else written(failure.asked)
    made = [(step.spot, ()) for step in stray.side.tensor.steps if step.what == EventKind.MADE]
    loader = failure.lives.loader()
    stacks = [event.stack for event in loader.events] if loader is not None else []
    built = [(failure.texts.spot(stack[0]), stack) for stack in stacks if stack]
    for spot, stack in [*made, *built]:
        if spot is not None and isinstance(spot.node, ast.Call):
            yield from failure.defined(kind, stray, spot, stack, wanted)
    spot = failure.spot
    for one in nodes(scope_of(spot.source.tree, spot.node), ast.Assign):
        match one:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Attribute(attr="manual_seed") as seed)
            ) if ast.unparse(target) == ast.unparse(stray.side.node):
                suspect = failure.suspect(stray, spot._replace(node=seed), (), wanted)
                if dotted(seed.value) == "torch":
                    yield from proposed(kind, spot.source, _seeded, suspect, seed)


def _seeded(source: Source, suspect: Suspect, seed: ast.expr) -> Change:
    device = target_device(suspect, otherwise='"cuda"')
    return replaced(source, seed, f"torch.Generator(device={device}).manual_seed")
