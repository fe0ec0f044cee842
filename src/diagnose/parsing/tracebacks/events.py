"""What a reader reports, in the order of the lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diagnose.model import Frame

HeadKind = Literal["plain", "inner", "reversed"]
LinkKind = Literal["during", "cause", "user-code", "inner", "group", "ignored"]


@dataclass(frozen=True, slots=True)
class Head:
    """ "Traceback (most recent call last)" and its kin: ``inner`` within the message of another error,
    ``reversed`` where the most recent call comes first."""

    at: int
    kind: HeadKind = "plain"


@dataclass(frozen=True, slots=True)
class Called:
    """One frame."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Raised:
    """The line that names an exception, with the whole of its message.

    ``sure`` is False for a line outside of any traceback that only looks like one.
    """

    at: int
    type: str
    message: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """How what follows belongs to what came before."""

    at: int
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class Break:
    """A line of the log that is no part of a traceback."""

    at: int


Event = Head | Called | Raised | Link | Break
