"""The live frames behind the frames of a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from diagnose.model import Frame, Report

_EXCEPTIONS = 50
_ENTRIES = 20_000
_LOCALS = 2000


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """A frame of the report with its index there and a snapshot of its local variables."""

    index: int
    frame: Frame
    locals: dict[str, Any]


def live_frames(error: BaseException, report: Report) -> list[LiveFrame]:
    """The frames of the report that are still alive, outermost first.

    Frames of another process or thread that only stand quoted in a message have no live frame.
    """
    alive: dict[tuple[str, int | None, str | None], list[FrameType]] = defaultdict(list)
    for exception in reversed(list(_related(error))):
        for running, line in _entries(exception.__traceback__):
            code = running.f_code
            alive[code.co_filename, line, code.co_name].append(running)
    found = []
    for index in reversed(range(len(report.frames))):
        frame = report.frames[index]
        candidates = alive.get((frame.file, frame.line, frame.function))
        if candidates:
            found.append(LiveFrame(index, frame, _variables(candidates.pop())))
    return found[::-1]


def _related(error: BaseException) -> Iterator[BaseException]:
    """The exception itself, then those that it carries: causes, contexts, members of a group."""
    pending, seen = [error], set[int]()
    while pending and len(seen) < _EXCEPTIONS:
        exception = pending.pop(0)
        if id(exception) in seen:
            continue
        seen.add(id(exception))
        yield exception
        members = getattr(exception, "exceptions", ())
        pending += [
            other
            for other in (
                exception.__cause__,
                exception.__context__,
                *(members if type(members) is tuple else ()),
            )
            if other is not None and issubclass(type(other), BaseException)
        ]


def _entries(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    for _ in range(_ENTRIES):
        if trace is None:
            return
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _variables(frame: FrameType) -> dict[str, Any]:
    """The variables that a person can name; a namespace that raises has none."""
    try:
        pairs = islice(frame.f_locals.items(), _LOCALS)
        return {name: value for name, value in pairs if type(name) is str and name.isidentifier()}
    except Exception:
        return {}
