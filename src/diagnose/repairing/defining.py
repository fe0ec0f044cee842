"""From an operand of the failing call, and a place that it comes from, to an edit of that place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.definitions import define
from diagnose.fixes.editing import Refused
from diagnose.hooks.replaying import Met
from diagnose.hooks.uncalled import Operand
from diagnose.placement import Device, Spot, Suspect
from diagnose.placement.devices import written
from diagnose.placement.reasons.scope import in_scope
from diagnose.repairing.moving import Move
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
    move = next((e for e in reversed(owner.events) if e.what == "moved"), None) if owner else None
    return Suspect(
        "",
        ast.unparse(stray.side.node),
        spot,
        place_of(stray),
        wanted,
        tuple(in_scope(around, spot, wanted)),
        stray.side.tensor.steps,
        found.meeting.spot,
        found.lives.texts.spot(move.stack[0]) if move and move.stack else None,
    )


def place_of(operand: Operand) -> Device | None:
    """Where an operand is."""
    return written(operand.device)
