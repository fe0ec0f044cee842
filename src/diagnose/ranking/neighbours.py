"""How much a report resembles a documented incident: frames, message and libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from rapidfuzz import fuzz, process

from diagnose.model import Incident, IncidentMatch, Report

# Shares of the parts in the similarity; the frames say most about what the code was doing.
_FRAMES, _MESSAGE, _LIBRARIES = 0.5, 0.3, 0.2
_MAX_FRAMES = 12  # the innermost ones
_MAX_MESSAGE = 400

#: Frames that stand in the tracebacks of all causes: they make no two reports alike.
_MACHINERY = re.compile(r"(^|/)torch/|accelerate/hooks\.py|(^|/)runpy\.py")


def nearest(report: Report, incidents: Mapping[str, Incident]) -> tuple[IncidentMatch, ...]:
    """All incidents with their similarity to the report, from 0 to 1, best first.

    A part that an incident does not document (no frames, no message) does not count against it.
    """
    if report.error is None or not incidents:
        return ()
    known = list(incidents.values())
    frames = _frames([f"{f.file} {f.function or ''}" for f in report.frames])
    message = _masked(report.error.message)
    their_frames = [_frames(i.frames) for i in known]
    their_messages = [_masked(i.message) for i in known]
    by_frames = _scores(frames, their_frames, fuzz.token_sort_ratio)
    by_message = _scores(message, their_messages, fuzz.ratio)
    libraries = set(report.libraries)
    found = []
    for position, incident in enumerate(known):
        parts = (
            (_FRAMES, by_frames[position], bool(frames and their_frames[position])),
            (_MESSAGE, by_message[position], bool(their_messages[position])),
            (_LIBRARIES, _overlap(libraries, set(incident.libraries)), True),
        )
        total = sum(share for share, _, documented in parts if documented)
        similarity = sum(share * score for share, score, documented in parts if documented) / total
        found.append(IncidentMatch(incident.id, incident.title, incident.url, round(similarity, 3)))
    return tuple(sorted(found, key=lambda match: -match.similarity))


def _scores(query: str, choices: Sequence[str], scorer: Callable[..., float]) -> list[float]:
    """The scorer's value from 0 to 1 for each choice, in their order."""
    scores = [0.0] * len(choices)
    if query:
        for _, score, position in process.extract(query, choices, scorer=scorer, limit=None):
            scores[position] = score / 100
    return scores


def _frames(frames: Sequence[str]) -> str:
    """``a/b/c.py:12 forward`` and the like as words: the file's last two parts with the function."""
    words = []
    for frame in frames:
        place, _, function = frame.replace("\\", "/").rpartition(" ")
        if not _MACHINERY.search(place):
            parts = re.sub(r":\d+$", "", place).split("/")[-2:]
            words.append(":".join([*parts, function]))
    return " ".join(words[-_MAX_FRAMES:])


def _masked(message: str) -> str:
    """The message without what differs from run to run: device numbers, sizes, addresses."""
    return re.sub(r"\d+", "0", " ".join(message[:_MAX_MESSAGE].split()))


def _overlap(one: set[str], two: set[str]) -> float:
    """Jaccard similarity; torch is in nearly every report and says nothing."""
    one, two = one - {"torch"}, two - {"torch"}
    return len(one & two) / len(one | two) if one | two else 0.0
