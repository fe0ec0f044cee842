"""From lines to events: which line is a header, a frame, an exception, a link, or none of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import cpython, exceptions, ipython, loose, pretty_errors, pytest
from diagnose.parsing.tracebacks.events import Break, Called, Event, Head, Link, Raised
from diagnose.parsing.tracebacks.source import indentation

#: So many lines that say nothing may stand between two frames of one traceback.
_PATIENCE = 80
_MOST_MESSAGE_LINES = 80
_ANY_INDENT = 1000  # forms that stand in columns of their own
_PROBES = (
    "Error", "Exception", "Traceback", "File", "line", " in ", "E  ", ".py", ":", "user code", "+-",
    "Interrupt", "Exit", "Iteration", "above exception", "first)", "terminated", "Captured", "===", "___",
    "never retrieved", "Logging error", "full traceback", "Pdb)", "pdb",
)  # fmt: skip


def read(lines: Sequence[Peeled]) -> Iterator[Event]:
    """The events of one channel's lines, in their order."""
    index = 0
    opened = False  # a header or a frame stands open: its exception is still to come
    latest = -1  # the index after the latest frame and its source
    indent = 0
    while index < len(lines):
        text = lines[index].text
        at = lines[index].number
        if not text.strip() or not (text[:3] == "in " or any(p in text for p in _PROBES)):
            if text.strip() and not opened:
                yield Break(at)
            latest = latest + 1 if latest == index and not text.strip() else latest
            opened = opened and index - latest < _PATIENCE
            index += 1
            continue
        if (kind := exceptions.head(text)) is not None:
            yield Head(at, kind)
            opened, latest = True, index + 1
            index += 1
            continue
        if exceptions.is_elision(text):
            latest = index + 1 if latest == index else latest
            index += 1
            continue
        relation = exceptions.link(text)
        if relation is not None and not (relation == "section" and opened):
            yield Link(at, relation)
            opened = relation == "user-code"
            index += 1
            continue
        if (found := cpython.frame(lines, index)) is not None:
            frame, index = found
            indent = indentation(text)
            before = cpython.FRAME.match(text)
            if before and (named := exceptions.match(before["before"], after_frame=False)):
                yield Raised(at, named.type, named.message)
            yield Called(frame)
            opened, latest = True, index
            continue
        if (listed := loose.debugger_frame(lines, index)) is not None:
            called, index = listed
            if called is not None:
                if not opened:
                    yield Head(at, "debugger")
                yield Called(called)
                opened, latest, indent = True, index, _ANY_INDENT
            continue
        if (
            found := ipython.frame(lines, index)
            or loose.frame(lines, index, within=opened)
            or pretty_errors.frame(lines, index)
        ) is not None:
            frame, index = found
            indent = _ANY_INDENT
            yield Called(frame)
            opened, latest = True, index
            continue
        if (failure := pytest.events(lines, index)) is not None:
            events, index = failure
            yield from events
            opened, latest = isinstance(events[-1], Called), index
            continue
        if (announced := _announced(lines, index)) is not None:
            raised, index = announced
            yield raised
            opened = False
            continue
        exception = exceptions.match(text, after_frame=opened and latest == index)
        if exception is not None and (not opened or indentation(text) <= max(indent, 1)):
            if opened or not exception.type.endswith("Warning"):
                message, index = _message(lines, index, exception.message)
                yield Raised(at, exception.type, message)
                opened = False
                continue
        elif not opened and (mentioned := exceptions.inside(text)) is not None:
            yield Raised(at, mentioned.type, mentioned.message, sure=False)
        elif not opened:
            yield Break(at)
        opened = opened and index - latest < _PATIENCE
        index += 1


def _announced(lines: Sequence[Peeled], index: int) -> tuple[Raised, int] | None:
    """An editor's announcement and the message on the lines below it."""
    kind = exceptions.announced(lines[index].text)
    if kind is None:
        return None
    after = index + 1
    if after < len(lines) and _goes_on(lines, after):
        message, after = _message(lines, after, lines[after].text.strip())
    else:
        message = ""
    return Raised(lines[index].number, kind, message), after


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
