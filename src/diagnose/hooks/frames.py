"""The live frames behind the frames of a report."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from diagnose.hooks.exceptions import related, traceback_of
from diagnose.hooks.introspection import is_a
from diagnose.model import Frame, Report

_ENTRIES = 20_000
_LOCALS = 2000
#: What Python gives for the locals of a function: a dict, since 3.13 a proxy.
_NAMESPACE = (lambda: type(sys._getframe().f_locals))()


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
    for exception in reversed(list(related(error))):
        for running, line in _entries(traceback_of(exception)):
            code = running.f_code
            alive[code.co_filename, line, code.co_name].append(running)
    found = []
    for index in reversed(range(len(report.frames))):
        frame = report.frames[index]
        candidates = alive.get((frame.file, frame.line, frame.function))
        if candidates:
            found.append(LiveFrame(index, frame, _variables(candidates.pop())))
    return found[::-1]


def _entries(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    for _ in range(_ENTRIES):
        if trace is None:
            return
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _variables(frame: FrameType) -> dict[str, Any]:
    """The variables that a person can name; a namespace of the program's own making has none."""
    space: Any = frame.f_locals
    if type(space) is _NAMESPACE:
        pairs = iter(space.items())
    elif is_a(space, dict):
        pairs = iter(dict.items(space))
    else:
        return {}
    try:
        return {
            name: value
            for name, value in islice(pairs, _LOCALS)
            if type(name) is str and name.isidentifier()
        }
    except RuntimeError:  # another thread went on changing it
        return {}
