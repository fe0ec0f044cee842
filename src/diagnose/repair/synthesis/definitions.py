"""From an operand of the failing call, and a place that it comes from, to an edit of that place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.replay import Met
from diagnose.kinds import EventKind
from diagnose.placement import Device, Spot, Suspect
from diagnose.placement.devices import written
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.repair.synthesis.transfers import Move
from diagnose.tracing.lives import ModuleLife
from diagnose.tracing.stacks import Line


def defined(
    found: Met,
    kind: str,
    stray: Operand,
    spot: Spot,
    stack: Sequence[Line],
    wanted: Device | None,
    owner: ModuleLife | None = None,
) -> Iterator[Move]:
    """The edit that a fix makes of a place; none where it does not show enough."""
    suspect = suspect_of(found, stray, spot, stack, wanted, owner)
    with suppress(Refused):
        edit = define(kind, suspect, torch=load().knowledge.torch)
        yield Move(kind, edit)


def suspect_of(
    found: Met,
    stray: Operand,
    spot: Spot,
    stack: Sequence[Line],
    wanted: Device | None,
    owner: ModuleLife | None,
) -> Suspect:
    """An operand as a suspect, with a place to edit."""
    around = found.lives.scopes.frame(stack) or found.lives.scopes.around(spot)
    move = (
        next((e for e in reversed(owner.events) if e.what == EventKind.MOVED), None)
        if owner
        else None
    )
    return Suspect(
        "",
        ast.unparse(stray.side.node),
        spot,
        place_of(stray),
        wanted,
        (*in_scope(around, spot, wanted), *_of_replica(found, spot)),
        stray.side.tensor.steps,
        found.meeting.spot,
        found.lives.texts.spot(move.stack[0]) if move and move.stack else None,
    )


def _of_replica(found: Met, spot: Spot) -> Iterator[str]:
    """In the methods of a module of which `DataParallel` makes copies, each of these tells its GPU by a
    weight of its own: ``parameters()`` of a copy is empty."""
    replica, kind = found.lives.replica, class_around(spot.source, spot.node)
    if replica is None or kind is None:
        return
    for module in replica.modules():
        if any(one.__name__ == kind.name for one in type(module).__mro__):
            for name, layer in (("", module), *module.named_children()):
                for weight in getattr(layer, "_former_parameters", ()):
                    yield ".".join(one for one in ("self", name, weight, "device") if one)
            return


def place_of(operand: Operand) -> Device | None:
    """Where an operand is."""
    return written(operand.device)
