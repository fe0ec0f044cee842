"""From lines to events: which line is a header, a frame, an exception, a link, or none of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import (
    cpython,
    exceptions,
    ipython,
    loose,
    pretty_errors,
    pytest,
    raised,
)
from diagnose.parsing.tracebacks.events import Break, Event
from diagnose.parsing.tracebacks.form import Form, Reading, State

#: The forms in the order in which they are tried; the first that knows a line takes it. First what holds
#: tracebacks together, whose words no frame holds; then frames, the stricter forms before the looser ones:
#: a debugger's place would do for one of IPython's, and a retold frame for most; last exceptions, for which
#: after a frame any name will do.
FORMS: tuple[Form, ...] = (
    exceptions.HEADER,
    exceptions.ELISION,
    exceptions.LINK,
    cpython.FORM,
    loose.DEBUGGER,
    ipython.FORM,
    loose.FORM,
    pretty_errors.FORM,
    pytest.FORM,
    raised.ANNOUNCED,
    raised.NAMED,
    raised.MENTIONED,
)
#: So many lines that say nothing may stand between two frames of one traceback.
_PATIENCE = 80


def read(lines: Sequence[Peeled]) -> Iterator[Event]:
    """The events of one channel's lines, in their order."""
    state = State()
    while state.here < len(lines):
        events, state = recognised(lines, state)[1]
        yield from events


def recognised(lines: Sequence[Peeled], state: State) -> tuple[Form | None, Reading]:
    """What the lines from here on say, and in which form; None where it is none's."""
    text = lines[state.here].text
    if may_tell(text):
        for form in FORMS:
            found = form.read(lines, state)
            if found is not None:
                return form, found
    return None, _passed(lines, state)


def _passed(lines: Sequence[Peeled], state: State) -> Reading:
    """A line that says nothing: a traceback that stands open waits some more lines."""
    index, opened, latest, indent = state
    blank = not lines[index].text.strip()
    if blank and latest == index:
        latest += 1
    events = () if blank or opened else (Break(lines[index].number),)
    return events, State(index + 1, opened and index - latest < _PATIENCE, latest, indent)


def _least(probes: Sequence[str]) -> tuple[str, ...]:
    """The probes that hold no other one, each once, short ones first: these stand in most lines."""
    least = {one for one in probes if not any(other in one for other in probes if other != one)}
    return tuple(sorted(least, key=lambda one: (len(one), one)))


_ALL = [probe for form in FORMS for probe in form.probes]
_PROBES = _least([probe for probe in _ALL if probe[0] != "\n"])
_BEGINNINGS = tuple(dict.fromkeys(probe[1:] for probe in _ALL if probe[0] == "\n"))


def may_tell(text: str) -> bool:
    """False where no form begins with such a line, as its declared probes tell."""
    return not text.isspace() and (
        any(probe in text for probe in _PROBES) or text.startswith(_BEGINNINGS)
    )
