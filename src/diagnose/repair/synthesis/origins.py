"""Edits of where the operands of the failing call come from: of each line that kept, moved, loaded or made
one of them, with whatever fix can be made there.

Nothing is weighed here. These edits are tried after those of the answer, which weighs: the run decides
which of them help, and the proof which of those are right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import permutations
from typing import NamedTuple

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods import DEFINITIONS
from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import value
from diagnose.hooks.replay import Met
from diagnose.kinds import EventKind, Origin
from diagnose.placement import Device, Spot
from diagnose.placement.devices import CPU, META, written
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.provenance import first_of, has
from diagnose.placement.semantics import nodes, parent
from diagnose.placement.tensors import Module
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.definitions import defined, place_of, suspect_of
from diagnose.repair.synthesis.generators import drawing
from diagnose.repair.synthesis.meta_tensors import (
    drawn,
    in_memory,
    loaded,
    moved_with_tables,
    within,
)
from diagnose.repair.synthesis.owned_modules import owned
from diagnose.repair.synthesis.transfers import Move
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
#: So many lines of a stack and modules above each other are looked at; so many edits are proposed.
_LINES, _OWNERS, _MOST = 4, 3, 24


class _Place(NamedTuple):
    """A line at which something happened to an operand, and how the program came there."""

    what: EventKind
    spot: Spot
    stack: Stack
    of_module: bool
    owner: ModuleLife | None = None


def origins(error: BaseException) -> Iterator[Move]:
    """The edits, those of what is on the cpu before those of what is on a GPU.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is None:
        return
    seen = set[str]()
    for one in _edits(found):
        if one.edit.text not in seen and len(seen) < _MOST:
            seen.add(one.edit.text)
            yield one


def _edits(found: Met) -> Iterator[Move]:
    pairs = sorted(permutations(found.operands, 2), key=lambda pair: _rank(pair[0]))
    apart = [(stray, other) for stray, other in pairs if place_of(stray) != place_of(other)]
    for stray in found.operands:
        yield from drawing(found, stray)
    for stray, other in apart:
        yield from _brought_back(found, stray, other)
    yield from moved_with_tables(found)
    across = all(one.device.startswith("cuda") for one in found.operands)
    checking = _is_check(found)
    if across and not checking:
        yield from _where_all_are_used(found, apart)
    for stray, other in apart:
        wanted = place_of(other)
        if wanted != CPU:
            yield from in_memory(found, stray)
            yield from loaded(found, stray)
            if stray.device == "meta":
                yield from within(found, stray, wanted)
            yield from drawn(found, stray)
            yield from _registered(found, stray, wanted)
            yield from _listed(found, stray, wanted)
            yield from _filled(found, stray)
            for place in _places(found, stray):
                yield from _made(found, place, stray, wanted)
                yield from owned(found, stray, place.spot, place.stack, wanted)
                yield from _left_there(found, place, stray)
    if not across and not checking:
        yield from _where_all_are_used(found, apart)
    for stray in found.operands if not apart else ():
        wanted = written(found.asked or "cuda")
        if stray.device == "meta":
            yield from within(found, stray, wanted)
            for place in _places(found, stray):
                yield from _made(found, place, stray, wanted)
    for stray in found.operands if not checking else ():
        for kind in _AT_FAILURE:
            if kind not in _OF_CALLS or isinstance(found.meeting.spot.node, ast.Call):
                yield from defined(found, kind, stray, found.meeting.spot, (), CPU)


def _is_check(found: Met) -> bool:
    """Whether the program itself refuses its tensors: it is not mended in the lines that ask."""
    spot = found.meeting.spot
    text = found.lives.texts.of(spot.file)
    return text is not None and isinstance(text.statement(spot.node), ast.Raise | ast.Assert)


def _where_all_are_used(found: Met, apart: Sequence[tuple[Operand, Operand]]) -> Iterator[Move]:
    for stray, other in apart:
        yield from _where_used(found, stray, other)


def _brought_back(found: Met, stray: Operand, other: Operand) -> Iterator[Move]:
    """A module that was moved to the cpu is moved back where the outermost function calls it."""
    if stray.device != "cpu" or stray.side.tensor.maker != Origin.WEIGHT:
        return
    for frame, line in found.lives.alive:
        spot = found.lives.texts.spot(line)
        for node in nodes(spot.node, ast.expr) if spot is not None else ():
            held = value(node, frame) if not _is_self(node) else None
            if spot is None or not isinstance(held, torch.nn.Module):
                continue
            events = found.lives.life_of(held).events
            if any(event.what == EventKind.MOVED and event.device == "cpu" for event in events):
                around = found.lives.scopes.frame([line]) or found.lives.scopes.around(spot)
                known = in_scope(around, spot, place_of(other))
                yield from _with_move(spot, node, next(known, f'"{other.device}"'), "move-module")
                return


def _with_move(
    spot: Spot, node: ast.AST, device: str, kind: str, *, kept: bool = False
) -> Iterator[Move]:
    if isinstance(node, ast.expr):
        with suppress(Refused):
            edit = file_edit(spot.source, [moved(spot.source, node, device)])
            yield Move(kind, edit, kept, (ast.unparse(node), device))


def _rank(operand: Operand) -> int:
    """What is on meta was never made, and what is on the cpu was most often forgotten there."""
    return {"meta": 0, "cpu": 1}.get(operand.device, 2)


def _places(found: Met, operand: Operand) -> Iterator[_Place]:
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
            spot = found.lives.texts.spot(line)
            own = at == 0 and event.what in (EventKind.PUT, EventKind.MOVED)
            if spot is not None and (own or _gives(found, spot)):
                yield _Place(event.what, spot, event.stack[at:], owner is not None, owner)


def _gives(found: Met, spot: Spot) -> bool:
    """Whether something is made of what an expression gives."""
    text = found.lives.texts.of(spot.file)
    return text is not None and not isinstance(parent(text.source.tree, spot.node), ast.Expr)


def _made(found: Met, place: _Place, stray: Operand, wanted: Device | None) -> Iterator[Move]:
    """The edits that a place allows. What undoes an offload gives up the memory that it saved."""
    offload = place.what == EventKind.MOVED and (
        place.of_module or stray.side.tensor.maker == Origin.WEIGHT
    )
    kinds = (_OF_MODULES if place.of_module else _OF_TENSORS).get(place.what, ())
    for kind in kinds:
        if kind != "materialize-meta" or place_of(stray) == META:
            for one in defined(found, kind, stray, place.spot, place.stack, wanted, place.owner):
                yield one._replace(stopgap=offload and stray.device == "cpu")


def _left_there(found: Met, place: _Place, stray: Operand) -> Iterator[Move]:
    """What DataParallel has brought to a replica's GPU is not moved again, to that of the whole model."""
    if found.lives.replica is None or place.what != EventKind.MOVED or place.of_module:
        return
    for one in defined(found, "no-to-on-quantized", stray, place.spot, place.stack, None):
        yield one._replace(kind="other", cause="dataparallel-replica-state", says="left-there")


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _registered(found: Met, stray: Operand, wanted: Device | None) -> Iterator[Move]:
    """A tensor becomes a buffer where it was kept first; and then the module that keeps it is moved, too,
    where it is built: one without the other changes nothing where nobody moves that module."""
    kept = first_of(stray.side.tensor.steps, EventKind.KEPT)
    module = stray.side.tensor.module
    built = first_of(module.steps, EventKind.MADE) if module else None
    if kept is None or built is None or kept.spot.source is not built.spot.source:
        return
    buffer = suspect_of(found, stray, kept.spot, (), wanted, None)
    moving = suspect_of(found, stray, built.spot, (), wanted, None)
    names = load().knowledge.torch
    with suppress(Refused):
        registers = DEFINITIONS["register-buffer"](buffer, names)
        yield Move("register-buffer", file_edit(kept.spot.source, registers))
        moves = DEFINITIONS["move-module"](moving, names)
        yield Move("register-buffer", file_edit(kept.spot.source, [*registers, *moves]))


def _listed(found: Met, stray: Operand, wanted: Device | None) -> Iterator[Move]:
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
            yield from defined(found, "register-module", stray, spot, (), wanted)


def _filled(found: Met, stray: Operand) -> Iterator[Move]:
    """What takes the place of a parameter's values (``self.w.data = made``) goes to where it was."""
    name = ast.unparse(stray.side.node)
    for node in nodes(found.meeting.spot.source.tree, ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="data")], value=given):
                if ast.unparse(owner) == name:
                    spot = Spot(found.meeting.spot.source, node)
                    yield from _with_move(spot, given, f"{name}.device", "create-on-device")


def _where_used(found: Met, stray: Operand, other: Operand) -> Iterator[Move]:
    """An operand is moved to the other one in the line that fails."""
    node, spot, beside = stray.side.node, found.meeting.spot, other.side.node
    if not isinstance(node, ast.expr) or node is spot.node or isinstance(stray.side.value, Module):
        return
    known = list(in_scope(found.meeting.frame, spot, place_of(other)))
    within = [f"{one.id}.device" for one in nodes(beside, ast.Name)]
    devices = [text for text in within if text in known]
    if isinstance(beside, ast.Name | ast.Attribute) and not isinstance(other.side.value, Module):
        devices.insert(0, f"{ast.unparse(beside)}.device")
    kept = has(stray.side.tensor.steps, EventKind.KEPT)
    for device in list(dict.fromkeys([*devices, *known]))[:2]:
        yield from _with_move(spot, node, device, "move-tensor-at-line", kept=kept)
