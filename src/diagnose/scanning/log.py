"""One log: its failures, each kind once."""

from __future__ import annotations

import contextlib
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from diagnose.bulkhead import missing
from diagnose.casebase.store import Casebase, load
from diagnose.errors import DiagnoseError
from diagnose.inputs import InputError, opened
from diagnose.memory.key import key
from diagnose.model import Diagnosis, Missing
from diagnose.parsing import parse_failures
from diagnose.parsing.bytestream import ByteStream
from diagnose.pipeline import explain

_LONGEST = 400


class Occurrence(NamedTuple):
    """One kind of failure in one log.

    ``count`` tells how often it stands there, ``line`` where first; ``file``, ``at`` and ``function`` are
    the place to look at, ``code`` its source line; ``cause`` the id of the likeliest root cause with its
    ``confidence``, None for failures that are not about devices. ``family`` is of the taxonomy.
    ``modified`` is when the log was last written, in UTC, None for a stream.
    """

    fingerprint: str
    type: str
    message: str
    family: str | None
    log: str
    line: int | None
    count: int = 1  # type: ignore[assignment]  # nobody asks an occurrence for tuple.count
    ranks: tuple[int, ...] = ()
    file: str | None = None
    at: int | None = None
    function: str | None = None
    code: str | None = None
    cause: str | None = None
    confidence: float | None = None
    modified: str | None = None


class ScannedLog(NamedTuple):
    """What scanning one log gave: its failures, a sentence that says why it could not be read, and
    sentences about what an internal error has cost of it."""

    log: str
    occurrences: tuple[Occurrence, ...] = ()
    problem: str | None = None
    faults: tuple[str, ...] = ()


def scan_log(name: str, *, casebase: Casebase | None = None) -> ScannedLog:
    """Scans a file, or standard input for ``-``; an unreadable one is told, not raised."""
    modified = None
    if name != "-":
        with contextlib.suppress(OSError):
            written = datetime.fromtimestamp(Path(name).stat().st_mtime, timezone.utc)
            modified = written.isoformat(timespec="seconds")
    try:
        with opened(name) as stream:
            return scan_stream(stream, name, modified=modified, casebase=casebase)
    except InputError as error:
        return ScannedLog(name, problem=str(error))
    except DiagnoseError:
        raise
    except Exception as error:
        return ScannedLog(name, faults=(fault(name, missing("reading", error)),))


def fault(name: str, piece: Missing) -> str:
    """The sentence about what a fault of ours has cost of a log."""
    return f"{name}: internal error, without {piece.what}: {piece.fault}"


def scan_stream(
    stream: ByteStream,
    name: str = "-",
    *,
    modified: str | None = None,
    casebase: Casebase | None = None,
) -> ScannedLog:
    """The failures of a stream, the one that ended the job first. Raises what reading it raises."""
    casebase = casebase or load()
    failures = parse_failures(
        stream,
        name,
        knowledge=casebase.knowledge,
    )
    found: dict[str, Occurrence] = {}
    lost: list[Missing] = []
    try:
        for report, count, line in failures:
            digest = key(report).digest
            if (same := found.get(digest)) is not None:
                found[digest] = _more(same, count, line, report.ranks)
                continue
            diagnosis = explain(report, casebase=casebase, top=1)
            if diagnosis.verdict == "failed":
                lost += diagnosis.incomplete
            found[digest] = _occurrence(digest, diagnosis, count, line, modified)
    except (DiagnoseError, OSError):  # of the stream
        raise
    except Exception as error:
        lost.append(missing("parsing", error))
    faults = tuple(dict.fromkeys(fault(name, piece) for piece in lost))
    return ScannedLog(name, tuple(found.values()), faults=faults)


def again(found: Occurrence) -> Diagnosis | None:
    """The answer to a failure, from the log that it stands in; None where that is a pipe, or has changed.

    Raises:
        InputError: the log cannot be read.
    """
    if found.log == "-":
        return None
    with opened(found.log) as stream:
        for report, _, _ in parse_failures(stream, found.log, knowledge=load().knowledge):
            if key(report).digest == found.fingerprint:
                return explain(report)
    return None


def _occurrence(
    digest: str, diagnosis: Diagnosis, count: int, line: int | None, modified: str | None
) -> Occurrence:
    report, place = diagnosis.report, diagnosis.culprit
    assert report.error is not None
    cause = diagnosis.causes[0] if diagnosis.verdict == "diagnosed" else None
    return Occurrence(
        fingerprint=digest,
        type=report.error.type,
        message=" ".join(report.error.message[: 4 * _LONGEST].split())[:_LONGEST],
        family=report.error.family,
        log=report.source,
        line=line,
        count=count,
        ranks=report.ranks,
        file=place.file if place else None,
        at=place.line if place else None,
        function=place.function if place else None,
        code=(place.code or "")[:_LONGEST] or None if place else None,
        cause=cause.id if cause else None,
        confidence=cause.confidence if cause else None,
        modified=modified,
    )


def _more(same: Occurrence, count: int, line: int | None, ranks: tuple[int, ...]) -> Occurrence:
    lines = [at for at in (same.line, line) if at is not None]
    return same._replace(
        count=same.count + count,
        line=min(lines, default=None),
        ranks=tuple(sorted({*same.ranks, *ranks})),
    )
