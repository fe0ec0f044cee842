"""Notes at the ends of lines of a healthy program: which mistake can be made there, and how.

A line ``mask = torch.ones(n, device=x.device)  #: created-without-device|nodevice|mask`` says that taking
the device out of it is this cause, and what the stray operand is then. More than one mistake of a line
stand one after the other, a fourth part names further causes that this place excuses, and ``#@name`` names
a line for those that are moved below it. `bare` takes all notes out; no line is added by a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NOTE = re.compile(r"\s*#: (.*?)(?=\s*#[:@]|$)")
_ANCHOR = re.compile(r"\s*#@(\w+)")


class Note(NamedTuple):
    """A mistake that can be made in a line (counted from 1)."""

    line: int
    cause: str
    edit: str
    operand: str
    also: tuple[str, ...]


def bare(text: str) -> str:
    """A program without its notes."""
    return "\n".join(map(_bare, text.split("\n")))


def _bare(line: str) -> str:
    return _ANCHOR.sub("", _NOTE.sub("", line)).rstrip()


def noted(text: str) -> Iterator[Note]:
    """The notes of a program, from its first line to its last."""
    for number, line in enumerate(text.split("\n"), 1):
        for found in _NOTE.finditer(line):
            cause, edit, operand, *also = found[1].split("|")
            yield Note(number, cause, edit, operand, tuple(also[0].split()) if also else ())


def anchor(text: str, name: str) -> int | None:
    """The line that a note calls so."""
    for number, line in enumerate(text.split("\n"), 1):
        if name in _ANCHOR.findall(line):
            return number
    return None
