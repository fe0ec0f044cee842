"""Edits that bring all to one device where nothing is apart: to a GPU, where a kernel or the program's own
check asks for one, or to the cpu, where layers that were quantized for it have no other kernel.

No operand tells there where another is: what the program calls its device becomes another one, or a model
goes together with what it is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods import DEFINITIONS
from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement import Device, Source, Spot, Suspect
from diagnose.placement.devices import CPU
from diagnose.placement.semantics import argument, called, dotted, nodes, parent
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed
from diagnose.repair.synthesis.transfers import (
    Stray,
    called_of,
    change_of,
    is_self,
    operands_of,
    strays_of,
)

#: What torch says of an operator that has no kernel for a GPU.
_NO_KERNEL = "from the 'CUDA' backend"
_STAYS = "no-to-on-quantized"
#: The first GPU, as a program writes it that has one.
_GPU, _WRITTEN = Device(DeviceType.CUDA), '"cuda"'
#: So many edits are proposed that bring all to a GPU, so many of what decides for one.
_MOST, _MOST_DECIDED = 8, 6
#: What asks whether there is a GPU: where there is one, its other branch is not taken.
_FALLBACK = re.compile("available|device_count")
#: Functions and keywords whose "cpu" is meant: tables that are loaded, results that leave.
_MEANT = frozenset({"load", "load_file", "map_location", "Generator", "get", "startswith"})


class _Call(NamedTuple):
    """A call in a running function; the model that it is of, if it is of one."""

    running: Running
    model: ast.expr | None


def bringing(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits that bring all to a GPU, those of the outermost call of a model first."""
    if failure.recorder is not None and failure.running:
        yield from islice(_brought(failure), _MOST)


def _brought(failure: LiveFailure) -> Iterator[Proposal]:
    outermost = list(reversed(failure.running))
    for source in {one.spot.file: one.source for one in outermost}.values():
        for node in nodes(source.tree, ast.Constant):
            if _decides(node, source):
                yield from proposed("change-launch-flag", source, replaced, node, _WRITTEN)
    calls = list(_calls(outermost))
    if all(call.model is None for call in calls):
        calls = list(map(_given_a_model, calls))
    of_models = ((one, one.model) for one in calls if one.model is not None)
    for call, model in islice(of_models, 1):
        spot, moved = _building(failure, call.running, model)
        if spot is not None:
            giving = _giving(failure, call) if spot.source is call.running.source else []
            names = [ast.unparse(model), *_names(giving)]
            for changes in ([*moved, *giving], moved) if giving else (moved,):
                told = (", ".join(names[: len(changes)]), _WRITTEN)
                yield from proposed("move-module", spot.source, changes, moves=told)
    for call in calls[:2]:
        giving = _giving(failure, call)
        told = (", ".join(_names(giving)), _WRITTEN)
        yield from proposed("move-input", call.running.source, giving, moves=told)


def _calls(outermost: Sequence[Running]) -> Iterator[_Call]:
    """The calls that the running functions stand at, outermost first, up to the first of a model."""
    for one in outermost:
        if isinstance(one.spot.node, ast.Call):
            of = (each for each in called_of(one.spot.node) if _is_on_cpu(one.value(each)))
            model = next(of, None)
            own = model is not None and is_self(model)
            yield _Call(one, None if own else model)
            if model is not None and not own:
                return


def _given_a_model(call: _Call) -> _Call:
    """A call that computes with the weights of a model that it is given, as if it were the model's."""
    running = call.running
    given = (one for one in operands_of(running.spot.node) if _is_on_cpu(running.value(one)))
    return call._replace(model=next((one for one in given if not is_self(one)), None))


def _is_on_cpu(held: Any) -> bool:
    """Whether something is a module that has nothing elsewhere."""
    return isinstance(held, torch.nn.Module) and all(
        one.device.type == "cpu" for one in (*held.parameters(), *held.buffers())
    )


def _building(
    failure: LiveFailure, running: Running, model: ast.expr
) -> tuple[Spot | None, list[Change]]:
    """Where the model of a call is built, and the changes by which it is moved there."""
    life = failure.lives.life_of(running.value(model))
    stack = next((event.stack for event in life.events if event.what == EventKind.MADE), ())
    for at, line in enumerate(stack):
        spot = failure.texts.spot(line)
        if spot is not None and not isinstance(spot.node, ast.Expr):
            with suppress(Refused):
                devices = (*failure.devices(spot, _GPU, stack[at:]), _WRITTEN)
                suspect = Suspect("", ast.unparse(model), spot, None, _GPU, devices)
                return spot, [*DEFINITIONS["move-module"](suspect, load().knowledge.torch)]
    return None, []


def _giving(failure: LiveFailure, call: _Call) -> list[Change]:
    """The changes that move what a call is given: where it is bound in this function, else in the call."""
    running = call.running
    operands = operands_of(running.spot.node)
    strays = strays_of(operands, "cuda:0", running.frame)
    strays = [one for one in strays if one.node is not call.model]
    strays += [Stray(one, "one") for one in operands if _is_made(one)]
    device = next(failure.devices(running.spot, _GPU), _WRITTEN)
    found = []
    for one in strays:
        place = one._replace(node=running.assigned(one.node) or one.node)
        with suppress(Refused):
            found.append(change_of(running.source, place, device))
    return found if len(found) == len(strays) else []


def _is_made(node: ast.expr) -> bool:
    """Whether an operand is a tensor that is made right there, and not told to be elsewhere."""
    if not isinstance(node, ast.Call) or argument(node, "device") is not None:
        return False
    module, _, name = (dotted(node.func) or "").rpartition(".")
    return module == "torch" and name in load().knowledge.torch.factories


def _names(changes: Sequence[Change]) -> list[str]:
    return [ast.unparse(change.node) for change in changes]


def _decides(node: ast.Constant, source: Source) -> bool:
    """Whether a "cpu" decides as a device, as a program writes it."""
    if node.value != "cpu":
        return False
    inner: ast.AST = node
    while not isinstance(inner, ast.stmt):
        outer = parent(source.tree, inner)
        match outer:
            case None | ast.Compare() | ast.Dict() | ast.Subscript():
                return False
            case ast.JoinedStr() if inner is node:
                return False
            case ast.IfExp(test=test) if _FALLBACK.search(ast.unparse(test)):
                return False
            case ast.keyword(arg=name) if name in _MEANT:
                return False
            case ast.Call() if called(outer) in _MEANT:
                return False
            case ast.Attribute() | ast.Expr(value=ast.Constant()):
                return False
        inner = outer
    return True


def retreating(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits that leave all on the cpu: of what decides for a GPU, then of the calls of models, the
    outermost first."""
    if failure.recorder is None or not failure.says(_NO_KERNEL):
        return
    decided = (one for source in failure.sources for one in _decided(source))
    yield from islice(decided, _MOST_DECIDED)
    for running in reversed(failure.running):
        models = (one for one in called_of(running.spot.node) if not is_self(one))
        for model in models:
            if isinstance(running.value(model), torch.nn.Module):
                yield from _stayed(failure, running, model)
                break


def _decided(source: Source) -> Iterator[Proposal]:
    """What a program calls its device becomes the cpu: where it is made, which decides for all that follow
    it, where one is chosen, written; that may be an option's default."""
    for kind in (ast.Call, ast.IfExp, ast.Constant):
        for node in nodes(source.tree, kind):
            if made := _on_cpu(node, source):
                yield from proposed(_STAYS, source, replaced, node, made)


def _on_cpu(node: ast.expr, source: Source) -> str:
    """What an expression of a GPU would be for the cpu; nothing for others, and for what is moved right
    there."""
    outer = parent(source.tree, node)
    match node:
        case ast.Call(func=ast.Attribute(attr="device") | ast.Name(id="device"), args=[_]):
            return f'{text_of(source, node.func)}("cpu")'
        case ast.IfExp(test=test) if "is_available" in ast.unparse(test):
            return "" if outer is not None and called(outer).endswith("device") else '"cpu"'
        case ast.Constant(value=str(name)) if name.partition(":")[0] == "cuda":
            kept = isinstance(outer, ast.Assign | ast.AnnAssign | ast.arguments)
            option = isinstance(outer, ast.keyword) and outer.arg in ("default", "device")
            return '"cpu"' if kept or option else ""
    return ""


def _stayed(failure: LiveFailure, running: Running, model: ast.expr) -> Iterator[Proposal]:
    """The model is not moved, and what it is given comes to the cpu; or only that does."""
    operands = [one for one in operands_of(running.spot.node) if one is not model]
    strays = strays_of(operands, "cpu", running.frame)
    strays += [Stray(one, "one") for one in operands if isinstance(one, ast.Call)]
    given: list[Change] = []
    for one in strays:
        with suppress(Refused):
            given.append(change_of(running.source, one, '"cpu"'))
    for event in failure.lives.life_of(running.value(model)).events:
        place = failure.texts.spot(event.stack[0]) if event.stack else None
        if event.what == EventKind.MOVED and place is not None:
            beside = given if place.source is running.source else []
            suspect = Suspect("", ast.unparse(model), place, None, CPU)
            yield from proposed(_STAYS, place.source, _left, suspect, beside)
    told = (", ".join(_names(given)), '"cpu"')
    yield from proposed("move-tensor-at-line", running.source, given, moves=told)


def _left(_: Source, suspect: Suspect, beside: Sequence[Change]) -> list[Change]:
    return [*DEFINITIONS[_STAYS](suspect, load().knowledge.torch), *beside]
