"""The suspects of a failure: what met in the line that failed, by the calls that led there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diagnose.kinds import ConstraintKind
from diagnose.placement.devices import differ
from diagnose.placement.interpreter import Program
from diagnose.placement.localization.suspects import of_doubt, of_kernel, of_meeting
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot, Suspect

#: What is met by a kernel that wants a GPU: as far as its name tells, a call of anything.
_REFUSING = (ConstraintKind.KERNEL, ConstraintKind.ASKED, ConstraintKind.LIBRARY)


class Line(NamedTuple):
    """A line of one of the user's files."""

    path: str
    number: int


def suspects(
    program: Program, stack: Sequence[Line], devices: Sequence[str]
) -> tuple[Suspect, ...]:
    """The suspects of a failure, likeliest first.

    Args:
        program: the analysed program.
        stack: the user's lines of the traceback, outermost first.
        devices: the devices that the message names, in its order.
    """
    if devices == ("CPU",):  # a kernel that wants a GPU: no two devices met
        return _of_kernel(program, stack)
    for position in range(len(stack) - 1, -1, -1):
        met = [one for one in program.meetings if _at(one.spot, stack[position])]
        met.sort(key=lambda one: -_agreement(one, stack[:position]))
        found: dict[tuple[str, str, int], Suspect] = {}
        for one in met:
            apart = _by_the_way_that_fails(one)
            for each in of_meeting(apart, devices or ("?", "cpu"), split=program.split):
                found.setdefault((each.cause, each.spot.file, each.spot.line), each)
        if found:
            gpus = "cpu" not in (device.casefold() for device in devices)
            return tuple(sorted(found.values(), key=lambda one: not _is_sure(one, gpus=gpus)))
    return ()


def doubted(program: Program, stack: Sequence[Line], devices: Sequence[str]) -> tuple[Suspect, ...]:
    """The suspects of a failure that the analysis does not explain, for by what it takes for known all
    operands are on one device: each is doubted in turn, that of the innermost lines first.

    Args:
        program: the analysed program.
        stack: the user's lines of the traceback, outermost first.
        devices: the devices that the message names, in its order.
    """
    found: dict[tuple[str, str, int], Suspect] = {}
    for position in range(len(stack) - 1, -1, -1):
        met = [one for one in program.meetings if _at(one.spot, stack[position])]
        met.sort(key=lambda one: -_agreement(one, stack[:position]))
        for one in met:
            for each in of_doubt(one, devices):
                found.setdefault((each.cause, each.spot.file, each.spot.line), each)
    return tuple(found.values())


def _by_the_way_that_fails(meeting: Meeting) -> Meeting:
    """A constraint of a failure: of what two ways put apart, it met the one that differs from the rest."""
    there = {side.tensor.device for side in meeting.sides} - {None}
    sides = [
        next(
            (
                side._replace(value=way, tensor=way)
                for way in side.tensor.ways
                if any(differ(way.device, one) for one in there)
            ),
            side,
        )
        for side in meeting.sides
    ]
    return meeting._replace(sides=tuple(sides))


def _is_sure(suspect: Suspect, *, gpus: bool) -> bool:
    """Whether it is known where a suspect is; of two GPUs one is that which a checkpoint was saved from."""
    return suspect.sure or (gpus and suspect.cause == "checkpoint-location")


def _of_kernel(program: Program, stack: Sequence[Line]) -> tuple[Suspect, ...]:
    """What a kernel of the GPU's was given on the cpu: where a literal says so, else where it was made."""
    for line in reversed(stack):
        for meeting in program.meetings:
            if meeting.what in _REFUSING and _at(meeting.spot, line):
                found = [of_kernel(side, meeting) for side in meeting.sides]
                if told := [suspect for suspect in found if suspect is not None]:
                    return tuple(told)
    return ()


def _at(spot: Spot, line: Line) -> bool:
    last = getattr(spot.node, "end_lineno", None) or spot.line
    return spot.file == line.path and spot.line <= line.number <= last


def _agreement(meeting: Meeting, stack: Sequence[Line]) -> int:
    """How many of the lines above are calls on the way to a meeting."""
    return sum(any(_at(call, line) for call in meeting.calls) for line in stack)
