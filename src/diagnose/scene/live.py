"""What a live process shows of a failure, and how it rules what the files say."""

from __future__ import annotations

from typing import NamedTuple

from diagnose.model import LiveOperand, SeenTensor
from diagnose.placement import Suspect


class Seen(NamedTuple):
    """What a live process shows: the tensors of the failing frames; where a recorder ran, the operands of
    the failing call, and who was misplaced and why."""

    tensors: tuple[SeenTensor, ...] = ()
    operands: tuple[LiveOperand, ...] = ()
    suspects: tuple[Suspect, ...] = ()


def ruled(live: tuple[Suspect, ...], read: tuple[Suspect, ...]) -> tuple[Suspect, ...]:
    """What was misplaced, likeliest first.

    Of the files' suspects those that the live ones confirm come first, for the files know what is in scope
    where nothing runs any more; those that live evidence contradicts come last.

    Args:
        live: suspects seen in the process, likeliest first.
        read: suspects that the files tell.
    """
    if not live:
        return read
    confirmed = tuple(one for one in read if same_stray(one, live[0]))
    return (*confirmed, *live, *(one for one in read if one not in confirmed))


def same_stray(one: Suspect, other: Suspect) -> bool:
    """Whether two looks at a failure mean the same misplaced value, by what it is called or by a line of
    its life, and give the same cause for it."""
    ours, theirs = (
        {(step.spot.file, step.spot.line) for step in each.steps if step.what != "put"}
        for each in (one, other)
    )
    same = bool(ours & theirs) or (bool(one.name) and one.name == other.name)
    return same and one.cause == other.cause
