"""What a module declares of the printed form that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks.events import Called, Event

#: The indentation of forms that stand in columns of their own: any exception may end them.
ANY_INDENT = 1000


class State(NamedTuple):
    """Where the reader stands.

    ``here``: the index of the line to read; ``opened``: a header or a frame stands open, its exception is
    still to come; ``latest``: the index after the latest frame and its source; ``indent``: how far that
    frame was indented.
    """

    here: int = 0
    opened: bool = False
    latest: int = -1
    indent: int = 0


#: What was read and where the reader stands then.
Reading = tuple[Sequence[Event], State]
Recogniser = Callable[[Sequence[Peeled], State], "Reading | None"]


class Form(NamedTuple):
    """One printed form: what recognises it, and what its lines are known by.

    ``read`` gives what the lines from here on say, None where they say nothing in this form. The first of
    them holds one of the ``probes``: a line without any form's is shown to none. A large log is searched
    for ``marks``, and apart from these for ``common`` ones, which lines of healthy logs hold as well. A
    form without marks is found by the exception that it ends with. Of probes and marks one that begins
    with a line feed stands at the beginning of a line.
    """

    name: str
    read: Recogniser
    probes: tuple[str, ...]
    marks: tuple[str, ...] = ()
    common: tuple[str, ...] = ()


def called(frame: Frame, end: int, indent: int = ANY_INDENT) -> Reading:
    """One frame was read, whose source ends before this index: its traceback stands open."""
    return (Called(frame),), State(end, True, end, indent)


def of_frames(frame: Callable[[Sequence[Peeled], int], tuple[Frame, int] | None]) -> Recogniser:
    """The recogniser of frames that are told by themselves, whatever stands above them."""

    def read(lines: Sequence[Peeled], state: State) -> Reading | None:
        found = frame(lines, state.here)
        return None if found is None else called(*found)

    return read
