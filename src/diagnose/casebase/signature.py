"""What of a failure is compared with documented incidents, and the terms that an index finds it by.

The build computes both for every incident, the ranking for a report; hence one module for the two.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diagnose.model import Incident, Recording, Report
from diagnose.patterns import lazy

_MAX_FRAMES = 12  # the innermost ones
_MAX_MESSAGE = 400
_MAX_TERM = 120

#: Frames that stand in the tracebacks of all causes: they make no two reports alike.
_MACHINERY = lazy(r"(^|/)torch/|accelerate/hooks\.py|(^|/)runpy\.py")
#: torch is in nearly every report and says nothing.
_NO_LIBRARY = frozenset({"torch"})
_LINE_NUMBER = lazy(r":\d+$")
_NUMBER = lazy(r"\d+")
_WORD = lazy(r"[^\W\d]{3,}")
#: What a term may not hold, so that no index takes part of one for a separator or an operator.
_UNFIT = lazy(r"[^\w.:-]+")


class Signature(NamedTuple):
    """The parts of a failure that are compared, without what differs from run to run.

    ``frames`` are words ``folder:file:function`` in alphabetical order, ``message`` has its numbers
    masked, ``libraries`` leaves torch out and holds ``replica`` where nn.DataParallel ran the model: the
    frames further in are those of any other run.
    """

    frames: str
    message: str
    libraries: frozenset[str]


def of_report(report: Report) -> Signature:
    """The signature of a report; its message is empty where it has no error."""
    return signature(
        [f"{frame.file} {frame.function or ''}" for frame in report.frames],
        report.error.message if report.error else "",
        report.libraries,
    )


def of_incident(incident: Incident) -> Signature:
    """The signature of a documented incident."""
    return signature(incident.frames, incident.message, incident.libraries)


def of_recording(recording: Recording) -> Signature:
    """The signature of a recorded traceback."""
    return signature(recording.frames, recording.message, recording.libraries)


def signature(frames: Sequence[str], message: str, libraries: Iterable[str]) -> Signature:
    """A signature from frames as ``path/file.py:12 function``, a message and import names."""
    apart = {"replica"} if any("parallel_apply" in frame for frame in frames) else set()
    return Signature(
        " ".join(sorted(" ".join(_innermost(frames)).split())),
        _NUMBER.sub("0", " ".join(message[:_MAX_MESSAGE].split())),
        frozenset(libraries) - _NO_LIBRARY | apart,
    )


def _innermost(frames: Sequence[str]) -> list[str]:
    """``a/b/c.py:12 forward`` and the like as words: the file's last two parts with the function."""
    words: list[str] = []
    for frame in reversed(frames):
        if len(words) == _MAX_FRAMES:
            break
        place, _, function = frame.replace("\\", "/").rpartition(" ")
        if not _MACHINERY.search(place):
            parts = _LINE_NUMBER.sub("", place).split("/")[-2:]
            words.append(":".join([*parts, function]))
    return words


def held_terms(found: Signature, op: str | None, argument: str | None) -> list[str]:
    """The terms that an incident is found by, sorted and without doubles.

    They consist of letters, digits and ``_.:-`` only, whatever the incident holds.
    """
    bare = () if found.frames else _bare(found, found.message)
    return sorted({*_places(found), *_words(found, op, argument), *bare})


def wanted_terms(found: Signature, op: str | None, argument: str | None) -> tuple[list[str], ...]:
    """The terms to look for on behalf of a report, in groups that each bring their own candidates:
    those of its frames, those of its message and libraries, and those of incidents without frames.

    What is not documented does not count against an incident, so that one without frames may be
    nearest on message and libraries alone; the incidents with frames must not keep it out.
    """
    groups = (
        _places(found),
        _words(found, op, argument),
        {*_bare(found, found.message), *_bare(found, "")},
    )
    return tuple(sorted(group) for group in groups)


def _places(found: Signature) -> set[str]:
    """Where it happened: each frame, its file and its function."""
    terms = set()
    for word in found.frames.split():
        place, _, function = word.rpartition(":")
        terms |= {
            _term("frame", word),
            _term("file", place.rpartition(":")[2]),
            _term("call", function),
        }
    return terms


def _words(found: Signature, op: str | None, argument: str | None) -> set[str]:
    """What was said and who was there: bit by bit, and as a whole, which is much rarer."""
    said = _digest(found.message)
    return {
        *(_term("library", name) for name in found.libraries),
        *(_term("word", word) for word in _WORD.findall(found.message)),
        *(_term("op", name) for name in (op, argument) if name),
        *(_term("said", f"{said}:{name}") for name in ("", *found.libraries)),
        _term("said", f"{said}:{_digest(*sorted(found.libraries))}"),
    }


def _bare(found: Signature, message: str) -> set[str]:
    """What only incidents without frames hold, with a message or without."""
    said = _digest(message)
    return {
        *(_term("bare", f"{bool(message):d}:{name}") for name in found.libraries),
        _term("bare", f"{said}:"),
        _term("bare", f"{said}:{_digest(*sorted(found.libraries))}"),
    }


def _digest(*texts: str) -> str:
    """A short name for texts of any length; folded, as all terms are."""
    return f"{zlib.crc32(' '.join(texts).lower().encode(errors='replace')):08x}"


def _term(kind: str, text: str) -> str:
    return _UNFIT.sub("_", f"{kind}:{text.lower()}")[:_MAX_TERM]
