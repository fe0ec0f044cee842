"""Edits of where the operands of the failing call come from: of each line that kept, moved, loaded or made
one of them, with whatever fix can be made there.

Nothing is weighed here. These edits are tried after those of the answer, which weighs: the run decides
which of them help, and the proof which of those are right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods import DEFINITIONS
from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.codemods.positions import statement_of
from diagnose.fixes.file_gate import Change
from diagnose.hooks.non_dispatch import Operand
from diagnose.kinds import EventKind, Origin
from diagnose.placement import Device, Source, Spot, Suspect
from diagnose.placement.devices import CPU, META, written
from diagnose.placement.provenance import first_of, has
from diagnose.placement.semantics import nodes, parent
from diagnose.placement.tensors import Module
from diagnose.repair.synthesis.kept import owned
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, place_of, proposed
from diagnose.repair.synthesis.meta_tensors import (
    drawing,
    drawn,
    in_memory,
    loaded,
    moved_with_tables,
    within,
)
from diagnose.repair.synthesis.transfers import is_self
from diagnose.tracing.lives import Event, ModuleLife
from diagnose.tracing.stacks import Stack

#: What may be done about a tensor, or a module, where something happened to it. The order is that in which
#: the fixes are tried: what is registered or made elsewhere stays right, what is moved is moved again.
_OF_TENSORS = {
    EventKind.KEPT: ("register-buffer", "create-on-device"),
    EventKind.HELD: ("register-module",),
    EventKind.PUT: ("create-on-device", "move-input"),
    EventKind.MOVED: ("set-rank-device", "use-like-device-of-other", "materialize-meta"),
    EventKind.LOADED: ("map-location", "move-input"),
    EventKind.MADE: (
        "map-location",
        "generator-on-device",
        "materialize-meta",
        "create-on-device",
        "move-input",
    ),
}
_OF_MODULES = {
    EventKind.PUT: ("register-module", "reorder-move-after-build", "move-module"),
    EventKind.MOVED: ("use-like-device-of-other", "set-rank-device", "materialize-meta"),
    EventKind.LOADED: ("map-location", "move-module"),
    EventKind.MADE: ("materialize-meta", "move-module"),
}
#: What may be done where it fails.
_AT_FAILURE = ("generator-on-device", "cpu-before-numpy", "no-to-on-quantized", "disable-compile")
#: Those of them that a call's argument is.
_OF_CALLS = frozenset({"generator-on-device"})
_MODULE = "move-module"
#: So many lines of a stack and modules above each other are looked at; so many edits are proposed.
_LINES, _OWNERS, _MOST = 4, 3, 24


class _Place(NamedTuple):
    """A line at which something happened to an operand, and how the program came there."""

    what: EventKind
    spot: Spot
    stack: Stack
    of_module: bool
    owner: ModuleLife | None = None


def origins(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, those of what is on the cpu before those of what is on a GPU."""
    seen = set[str]()
    for one in _edits(failure) if failure.operands else ():
        if one.edit.text not in seen and len(seen) < _MOST:
            seen.add(one.edit.text)
            yield one


def _edits(failure: LiveFailure) -> Iterator[Proposal]:
    pairs = sorted(failure.pairs, key=lambda pair: _rank(pair[0]))
    apart = [(stray, other) for stray, other in pairs if place_of(stray) != place_of(other)]
    for stray in failure.operands:
        yield from drawing(failure, stray)
    for stray, other in apart:
        yield from _brought_back(failure, stray, other)
    yield from moved_with_tables(failure)
    across = all(one.device.startswith("cuda") for one in failure.operands)
    checking = _is_check(failure)
    if across and not checking:
        for stray, other in apart:
            yield from _where_used(failure, stray, other)
    for stray, other in apart:
        wanted = place_of(other)
        if wanted != CPU:
            yield from in_memory(failure, stray)
            yield from loaded(failure, stray)
            if stray.device == "meta":
                yield from within(failure, stray, wanted)
            yield from drawn(failure, stray)
            yield from _registered(failure, stray, wanted)
            yield from _listed(failure, stray, wanted)
            yield from _filled(failure, stray)
            for place in _places(failure, stray):
                yield from _made(failure, place, stray, wanted)
                yield from owned(failure, stray, place.spot, place.stack, wanted)
                yield from _left_there(failure, place, stray)
    if not across and not checking:
        for stray, other in apart:
            yield from _where_used(failure, stray, other)
    for stray in failure.operands if not apart else ():
        wanted = written(failure.asked)
        if stray.device == "meta":
            yield from within(failure, stray, wanted)
            for place in _places(failure, stray):
                yield from _made(failure, place, stray, wanted)
    for stray in failure.operands if not checking else ():
        for kind in _AT_FAILURE:
            if kind not in _OF_CALLS or isinstance(failure.spot.node, ast.Call):
                yield from failure.defined(kind, stray, failure.spot, (), CPU)


def _is_check(failure: LiveFailure) -> bool:
    """Whether the program itself refuses its tensors: it is not mended in the lines that ask."""
    spot = failure.spot
    return isinstance(statement_of(spot.source, spot.node), ast.Raise | ast.Assert)


def _brought_back(failure: LiveFailure, stray: Operand, other: Operand) -> Iterator[Proposal]:
    """A module that was moved to the cpu is moved back where the outermost function calls it."""
    if stray.device != "cpu" or stray.side.tensor.maker != Origin.WEIGHT:
        return
    for one in reversed(failure.running):
        for node in nodes(one.spot.node, ast.expr):
            held = one.value(node) if not is_self(node) else None
            if not isinstance(held, torch.nn.Module):
                continue
            events = failure.lives.life_of(held).events
            if any(event.what == EventKind.MOVED and event.device == "cpu" for event in events):
                known = failure.devices(one.spot, place_of(other), one.stack[:1])
                yield from _with_move(one.spot, node, next(known, f'"{other.device}"'), _MODULE)
                return


def _with_move(
    spot: Spot, node: ast.expr, device: str, kind: str, *, kept: bool = False
) -> Iterator[Proposal]:
    told = (ast.unparse(node), device)
    yield from proposed(kind, spot.source, moved, node, device, stopgap=kept, moves=told)


def _rank(operand: Operand) -> int:
    """What is on meta was never made, and what is on the cpu was most often forgotten there."""
    return {"meta": 0, "cpu": 1}.get(operand.device, 2)


def _places(failure: LiveFailure, operand: Operand) -> Iterator[_Place]:
    """Where something happened to an operand, or to the module that it belongs to, the latest first."""
    life = operand.life
    for step in reversed(operand.side.tensor.steps):
        if step.what in (EventKind.KEPT, EventKind.HELD):
            yield _Place(step.what, step.spot, (), of_module=False)
    events: list[tuple[Event, ModuleLife | None]] = []
    above = (
        life.module if life is not None and life.maker in (Origin.WEIGHT, Origin.OUTPUT) else None
    )
    for _ in range(_OWNERS):
        if above is not None:
            events += [(event, above) for event in reversed(above.events)]
            above = above.owner
    if life is not None:
        events += [(event, None) for event in reversed(life.events)]
    for event, owner in events:
        for at, line in enumerate(event.stack[:_LINES]):
            spot = failure.texts.spot(line)
            own = at == 0 and event.what in (EventKind.PUT, EventKind.MOVED)
            if spot is not None and (own or _gives(spot)):
                yield _Place(event.what, spot, event.stack[at:], owner is not None, owner)


def _gives(spot: Spot) -> bool:
    """Whether something is made of what an expression gives."""
    return not isinstance(parent(spot.source.tree, spot.node), ast.Expr)


def _made(
    failure: LiveFailure, place: _Place, stray: Operand, wanted: Device | None
) -> Iterator[Proposal]:
    """The edits that a place allows. What undoes an offload gives up the memory that it saved."""
    offload = place.what == EventKind.MOVED and (
        place.of_module or stray.side.tensor.maker == Origin.WEIGHT
    )
    kinds = (_OF_MODULES if place.of_module else _OF_TENSORS).get(place.what, ())
    for kind in kinds:
        if kind != "materialize-meta" or place_of(stray) == META:
            for one in failure.defined(kind, stray, place.spot, place.stack, wanted, place.owner):
                yield one._replace(stopgap=offload and stray.device == "cpu")


def _left_there(failure: LiveFailure, place: _Place, stray: Operand) -> Iterator[Proposal]:
    """What DataParallel has brought to a replica's GPU is not moved again, to that of the whole model."""
    if failure.lives.replica is None or place.what != EventKind.MOVED or place.of_module:
        return
    for one in failure.defined("no-to-on-quantized", stray, place.spot, place.stack, None):
        yield one._replace(kind="other", cause="dataparallel-replica-state", says="left-there")


def _registered(failure: LiveFailure, stray: Operand, wanted: Device | None) -> Iterator[Proposal]:
    """A tensor becomes a buffer where it was kept first; and then the module that keeps it is moved, too,
    where it is built: one without the other changes nothing where nobody moves that module."""
    kept = first_of(stray.side.tensor.steps, EventKind.KEPT)
    module = stray.side.tensor.module
    built = first_of(module.steps, EventKind.MADE) if module else None
    if kept is None or built is None or kept.spot.source is not built.spot.source:
        return
    buffer = failure.suspect(stray, kept.spot, (), wanted)
    moving = failure.suspect(stray, built.spot, (), wanted)
    for moves in ((), (moving,)):
        yield from proposed("register-buffer", kept.spot.source, _buffer, buffer, *moves)


def _buffer(_: Source, buffer: Suspect, *moving: Suspect) -> list[Change]:
    names = load().knowledge.torch
    moves = [one for each in moving for one in DEFINITIONS["move-module"](each, names)]
    return [*DEFINITIONS["register-buffer"](buffer, names), *moves]


def _listed(failure: LiveFailure, stray: Operand, wanted: Device | None) -> Iterator[Proposal]:
    """The plain list of layers that a weight was taken from becomes one of torch's: also where the layers
    are registered elsewhere, replicas share what a plain list holds."""
    kept = [step.spot for step in stray.side.tensor.steps if step.what == EventKind.KEPT]
    if stray.side.tensor.maker != Origin.WEIGHT or not kept:
        return
    source = kept[0].source
    names = {node.attr for node in nodes(kept[0].node, ast.Attribute)}
    for node in nodes(source.tree, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr in names:
            spot = Spot(source, node)
            yield from failure.defined("register-module", stray, spot, (), wanted)


def _filled(failure: LiveFailure, stray: Operand) -> Iterator[Proposal]:
    """What takes the place of a parameter's values (``self.w.data = made``) goes to where it was."""
    name = ast.unparse(stray.side.node)
    for node in nodes(failure.spot.source.tree, ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="data")], value=given):
                if ast.unparse(owner) == name:
                    spot = Spot(failure.spot.source, node)
                    yield from _with_move(spot, given, f"{name}.device", "create-on-device")


def _where_used(failure: LiveFailure, stray: Operand, other: Operand) -> Iterator[Proposal]:
    """An operand is moved to the other one in the line that fails."""
    node, spot, beside = stray.side.node, failure.spot, other.side.node
    if not isinstance(node, ast.expr) or node is spot.node or isinstance(stray.side.value, Module):
        return
    stack = failure.running[0].stack if failure.running else ()
    known = list(failure.devices(spot, place_of(other), stack))
    within = [f"{one.id}.device" for one in nodes(beside, ast.Name)]
    devices = [text for text in within if text in known]
    if isinstance(beside, ast.Name | ast.Attribute) and not isinstance(other.side.value, Module):
        devices.insert(0, f"{ast.unparse(beside)}.device")
    kept = has(stray.side.tensor.steps, EventKind.KEPT)
    for device in list(dict.fromkeys([*devices, *known]))[:2]:
        yield from _with_move(spot, node, device, "move-tensor-at-line", kept=kept)
