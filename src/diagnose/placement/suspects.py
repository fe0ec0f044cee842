"""From what met to why it was there: which operand is the stray, and the line to edit for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.placement.devices import differ
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Suspect
from diagnose.placement.reasons import of_rank, reason
from diagnose.placement.scope import in_scope
from diagnose.placement.steps import last_move, said_as
from diagnose.placement.strays import agree, names_cpu, strays


def of_meeting(
    meeting: Meeting, devices: Sequence[str] = (), *, split: bool = False
) -> Iterator[Suspect]:
    """The suspects of a meeting, likeliest first.

    Args:
        meeting: operands that have to be on one device.
        devices: the devices that a message names, in its order; none where there was no failure, and then
            only operands whose devices are known to differ are suspects.
        split: the program has modules on several accelerators.
    """
    if meeting.what == "library" and not devices:
        return
    if devices and meeting.what in ("join", "call", "library") and agree(meeting):
        return
    if split and devices and not any(map(names_cpu, devices)) and (across := _across(meeting)):
        yield across
    for stray, other in strays(meeting, devices):
        suspect = explain(stray, other, meeting)
        if suspect is not None and split and suspect.cause == "hardcoded-device" and devices:
            # Where a model is on several devices, no line that names one is wrong by itself.
            cause = "input-on-wrong-shard" if meeting.what == "call" else "cross-shard-op"
            suspect = suspect._replace(cause=cause)
        if suspect is not None:
            yield suspect


def _crossing(side: Meets, cause: str, meeting: Meeting) -> Spot:
    """Where an operand is to cross to the other part: where it was last moved, else where it is used."""
    move = last_move(side.tensor.steps)
    if (
        cause == "input-on-wrong-shard"
        and move is not None
        and isinstance(move.spot.node, ast.Call)
    ):
        return move.spot
    return meeting.spot._replace(
        node=side.node if isinstance(side.node, ast.expr) else meeting.spot.node
    )


def _across(meeting: Meeting) -> Suspect | None:
    """Two parts of a split model that meet: the input of a part that is elsewhere, or two outputs."""
    first = meeting.sides[0]
    for side in meeting.sides[1:]:
        if not differ(first.tensor.device, side.tensor.device):
            continue
        made = {"output", "weight"}
        if (
            meeting.what == "call"
            and first.tensor.maker == "weight"
            and side.tensor.maker not in made
        ):
            cause = "input-on-wrong-shard"
        elif side.tensor.maker in made and first.tensor.maker in made:
            cause = "cross-shard-op"
        else:
            continue
        spot = _crossing(side, cause, meeting)
        return Suspect(
            cause,
            said_as(side.node),
            spot,
            side.tensor.device,
            first.tensor.device,
            (),
            side.tensor.steps,
            meeting.spot,
        )
    return None


def explain(stray: Meets, other: Meets | None, meeting: Meeting) -> Suspect | None:
    """Why an operand is where it is; None where its origin was not seen."""
    tensor = stray.tensor
    wanted = other.tensor.device if other is not None else None
    found = reason(stray, meeting)
    if found is None:
        return None
    if found.cause == "hardcoded-device" and other is not None:
        found = of_rank(found, other) or found
    return Suspect(
        found.cause,
        found.name or said_as(stray.node),
        found.spot,
        tensor.device,
        wanted,
        tuple(in_scope(found.frame, found.spot, wanted)) if found.frame is not None else (),
        tensor.steps,
        meeting.spot,
        found.move,
        found.owner,
        found.beside,
        sure=tensor.device is not None,
    )
