"""Tracebacks of several processes that printed at once, line among line, with nothing to tell them apart:
the ranks of a job fail in the same place, so what each printed once was printed by all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from diagnose.parsing.tracebacks.events import Called, Event, Head, Raised, gist

_MOST_EVENTS, _MOST_RANKS = 2000, 64
#: Of the frames so many must have been printed by each; lines that broke into each other are lost.
_ALIKE = 0.7

Place = tuple[str, int | None, str | None]


def untangle(events: Iterable[Event]) -> list[Event]:
    """The events, with each knot of like tracebacks as one of them."""
    told = list(events)
    if sum(isinstance(event, Head) for event in told) < 2:
        return told
    straight: list[Event] = []
    index = 0
    while index < len(told):
        knot = _knot(told, index)
        if knot is None:
            straight.append(told[index])
            index += 1
        else:
            one, index = knot
            straight += one
    return straight


def _knot(told: Sequence[Event], start: int) -> tuple[list[Event], int] | None:
    """One of the tracebacks that begin before the first of them ends, and the index after all."""
    head = told[start]
    if not isinstance(head, Head) or head.kind != "plain":
        return None
    begun, ended = 1, 0
    raised: Raised | None = None
    frames: list[Called] = []
    for index in range(start + 1, min(len(told), start + _MOST_EVENTS)):
        event = told[index]
        if isinstance(event, Head):
            if event.kind != "plain" or (ended and begun == 1):
                return None
            begun += 1
            if begun > _MOST_RANKS:
                return None
        elif isinstance(event, Called):
            frames.append(event)
        elif isinstance(event, Raised):
            raised = raised or event
            if gist(event.type, event.message) != gist(raised.type, raised.message):
                return None
            if len(event.message) < len(raised.message):
                raised = event  # the lines of another process stand below the other's
            ended += 1
            if ended == begun:
                if begun == 1:
                    return None
                one = _common(frames, begun)
                return ([head._replace(processes=begun), *one, raised], index + 1) if one else None
    return None


def _common(frames: Sequence[Called], times: int) -> list[Called]:
    """The frames that each process printed, in their order; none where the processes differ. Below a frame
    may stand another process's line of source: each has the one that most often stands below it, unless
    that more often stands elsewhere."""
    seen = Counter(_place(called) for called in frames)
    alike = sum(count % times == 0 for count in seen.values())
    if not seen or alike < _ALIKE * len(seen):
        return []
    left = {place: -(-count // times) for place, count in seen.items()}
    below = Counter((_place(called), called.frame.code) for called in frames)
    anywhere = Counter(called.frame.code for called in frames)

    def fitting(called: Called) -> tuple[bool, int]:
        here = below[_place(called), called.frame.code]
        return 2 * here >= anywhere[called.frame.code], here

    best = {_place(called): called for called in sorted(frames, key=fitting)}
    one: list[Called] = []
    for called in frames:
        place = _place(called)
        if left[place]:
            left[place] -= 1
            one.append(best[place])
    return one


def _place(called: Called) -> Place:
    frame = called.frame
    return frame.file, frame.line, frame.function
