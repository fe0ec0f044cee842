"""What a live process shows of a failure, and how it rules what the files say."""

from __future__ import annotations

from typing import NamedTuple

from diagnose.kinds import EventKind
from diagnose.model import At, LiveOperand, Mismatch, SeenTensor
from diagnose.placement import Suspect


class Seen(NamedTuple):
    """What a live process shows: the tensors of the failing frames; where a recorder ran, the operands of
    the failing call, and who was misplaced and why."""

    tensors: tuple[SeenTensor, ...] = ()
    operands: tuple[LiveOperand, ...] = ()
    suspects: tuple[Suspect, ...] = ()


def ruled(seen: Seen, read: tuple[Suspect, ...]) -> tuple[Suspect, ...]:
    """What was misplaced, likeliest first.

    Live evidence tells which values met, the files why they were there and where that is mended: they know
    the scope of functions that have ended and the calls that were never made. So of the files' suspects
    those come first that are about a value that was seen; the others come last.

    Args:
        seen: what the process showed.
        read: suspects that the files tell.
    """
    confirmed = tuple(one for one in read if is_seen(one, seen))
    return (*confirmed, *seen.suspects, *(one for one in read if one not in confirmed))


def by_message(suspects: tuple[Suspect, ...], mismatch: Mismatch | None) -> tuple[Suspect, ...]:
    """Suspects of the cause that only the message tells: of fake tensors, whatever these were made by."""
    if mismatch is None or not mismatch.wording.startswith("torch.fake."):
        return suspects
    return tuple(one._replace(cause="fake-or-compile-device") for one in suspects)


def is_seen(one: Suspect, seen: Seen) -> bool:
    """Whether a live process confirms a suspect: its value was what met another, on the device told."""
    causes = {each.cause for each in seen.suspects}
    if "meta-tensor" in causes and one.cause != "meta-tensor":
        return False  # what is on meta is misplaced, whatever it met
    if one.cause == "kernel-needs-gpu" and causes and one.cause not in causes:
        return False  # something beside it is on a GPU
    if "checkpoint-location" in causes and one.cause == "created-without-device":
        return False  # it was restored
    lines = _lines(one)
    return any(_is_same(one, each) for each in seen.suspects) or any(
        _is_on(one, operand.device) and (operand.name == one.name or _line(operand.born) in lines)
        for operand in seen.operands
    )


def _is_same(one: Suspect, other: Suspect) -> bool:
    """Whether two looks at a failure mean the same value: by its cause, its name, or a line of its life."""
    if other.device is not None and not _is_on(one, str(other.device)):
        return False
    named = bool(one.name) and one.name == other.name
    return one.cause == other.cause or named or bool(_lines(one) & _lines(other))


def _is_on(one: Suspect, device: str) -> bool:
    from diagnose.placement.devices import is_said  # most answers see nothing live

    return is_said(one.device, device) is not False


def _lines(one: Suspect) -> set[tuple[str, int | None]]:
    return {(step.spot.file, step.spot.line) for step in one.steps if step.what != EventKind.PUT}


def _line(at: At | None) -> tuple[str, int | None] | None:
    return (at.file, at.line) if at is not None else None
