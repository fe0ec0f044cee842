"""The exceptions that lines name, with the whole of their messages."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions, ipython, loose
from diagnose.parsing.tracebacks.events import Raised
from diagnose.parsing.tracebacks.form import Form, Reading, State
from diagnose.parsing.tracebacks.source import indentation

_MOST_MESSAGE_LINES = 80


def _announced(lines: Sequence[Peeled], state: State) -> Reading | None:
    """An editor's announcement and the message on the lines below it."""
    index, _, latest, indent = state
    kind = exceptions.announced(lines[index].text)
    if kind is None:
        return None
    message, after = "", index + 1
    if after < len(lines) and _goes_on(lines, after):
        message, after = _message(lines, after, lines[after].text.strip())
    return (Raised(lines[index].number, kind, message),), State(after, False, latest, indent)


def _named(lines: Sequence[Peeled], state: State) -> Reading | None:
    """The exception that ends a traceback, or stands alone."""
    index, opened, latest, indent = state
    text = lines[index].text
    found = exceptions.match(text, after_frame=opened and latest == index)
    if found is None or (opened and indentation(text) > max(indent, 1)):
        return None
    if not opened and found.type.endswith("Warning"):
        return (), State(index + 1, False, latest, indent)
    message, after = _message(lines, index, found.message)
    return (Raised(lines[index].number, found.type, message),), State(after, False, latest, indent)


def _mentioned(lines: Sequence[Peeled], state: State) -> Reading | None:
    """An exception that a line of the log names within a sentence."""
    index, opened, latest, indent = state
    found = None if opened else exceptions.inside(lines[index].text)
    if found is None:
        return None
    raised = Raised(lines[index].number, found.type, found.message, sure=False)
    return (raised,), State(index + 1, False, latest, indent)


def _message(lines: Sequence[Peeled], index: int, first: str) -> tuple[str, int]:
    """The whole message, whose first line stands at the index, and the index after it."""
    said = [first]
    index += 1
    while index < len(lines) and len(said) < _MOST_MESSAGE_LINES:
        if not _goes_on(lines, index) and not _pauses(said, lines, index):
            break
        said.append(lines[index].text.rstrip())
        index += 1
    return "\n".join(said).rstrip(), index


def _pauses(said: Sequence[str], lines: Sequence[Peeled], index: int) -> bool:
    """True for a blank line within an indented message (dynamo's explanations, with their hints)."""
    return (
        not lines[index].text.strip()
        and said[-1].startswith("  ")
        and index + 1 < len(lines)
        and lines[index + 1].text.startswith("  ")
        and _goes_on(lines, index + 1)
    )


def _goes_on(lines: Sequence[Peeled], index: int) -> bool:
    """True where a line continues the message above it."""
    text = lines[index].text
    return (
        bool(text.strip())
        and not exceptions.is_structure(text)
        and exceptions.match(text, after_frame=False) is None
        and not exceptions.is_log(text)
        and 'File "' not in text
        and text.strip() != '"""'
        and ipython.frame_head(text) is None
        and loose.debugger_frame(lines, index) is None
        and loose.frame(lines, index, within=False) is None
    )


_NAMES = ("Error", "Exception", "Interrupt")
ANNOUNCED = Form("announced", _announced, probes=(":",))
NAMED = Form("named", _named, probes=(*_NAMES, "Exit", "Iteration", ":"), common=_NAMES)
MENTIONED = Form("mentioned", _mentioned, probes=(":",), common=_NAMES[:2])
