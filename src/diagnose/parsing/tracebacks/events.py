"""What a reader reports, in the order of the lines."""

from __future__ import annotations

from typing import Literal, NamedTuple

from diagnose.model import Frame
from diagnose.patterns import lazy

HeadKind = Literal["plain", "inner", "reversed", "stack", "debugger"]
LinkKind = Literal[
    "during", "cause", "user-code", "inner", "group", "ignored", "captured", "section",
    "shown-above", "shown-below",
]  # fmt: skip


class Head(NamedTuple):
    """The line "Traceback (most recent call last)" and its kin: ``inner`` within the message of another
    error, ``reversed`` where the most recent call comes first, ``stack`` where a logger shows who called
    it: the frames of no exception; ``debugger`` where pdb lists the stack that it stands in.
    ``processes``: so many printed it, line among line."""

    at: int
    kind: HeadKind = "plain"
    processes: int = 1


class Called(NamedTuple):
    """One frame."""

    frame: Frame


class Raised(NamedTuple):
    """The line that names an exception, with the whole of its message.

    ``sure`` is False for a line outside of any traceback that only looks like one.
    """

    at: int
    type: str
    message: str
    sure: bool = True


class Link(NamedTuple):
    """How what follows belongs to what came before; ``captured``: what a test printed before it failed,
    until the next ``section`` of the report; ``shown-above``, ``shown-below``: the frames after this line,
    or before it, are those of the other side once more."""

    at: int
    kind: LinkKind


class Break(NamedTuple):
    """A line of the log that is no part of a traceback."""

    at: int


_NUMBER = lazy(r"\d+")


def gist(kind: str | None, message: str) -> tuple[str | None, str]:
    """What two failures of one kind have in common: type and what is said first, but for numbers."""
    return kind, _NUMBER.sub("#", message[:200].strip().split("\n", 1)[0])


Event = Head | Called | Raised | Link | Break
