"""`parse`: from what was pasted to a `Report`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from diagnose.bulkhead import guarded
from diagnose.model import (
    Failure,
    Frame,
    Knowledge,
    Marks,
    Report,
)
from diagnose.parsing import context, overcome, ranks, selection, versions
from diagnose.parsing.bytestream import ByteStream
from diagnose.parsing.entering import lines_of, streamed
from diagnose.parsing.judging import Judge
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import derive
from diagnose.parsing.origin import Origins, libraries_of
from diagnose.parsing.peeling import peel
from diagnose.parsing.tracebacks import loose
from diagnose.parsing.tracebacks.assembly import Trace, assemble
from diagnose.parsing.tracebacks.reader import read
from diagnose.parsing.tracebacks.source import is_annotation

_MOST_TRACES = 250
_MOST_FALLOUT = 32
_NEAR = 2  # lines above a message: carets, and what they underline


class Seen(NamedTuple):
    """One kind of failure in a log: its report, how often it stands there, and in which line first."""

    report: Report
    times: int
    line: int | None


class Found(NamedTuple):
    """The failures of a log: all of them, those that it did not get over, the channel of the rank that its
    launcher saw fail first, and the one to explain; ``told`` are its lines without those got over."""

    all: Sequence[selection.Candidate]
    standing: Sequence[selection.Candidate]
    first_rank: str | None
    chosen: selection.Candidate | None
    told: Sequence[Peeled]


def parse(
    data: bytes | str,
    source: str = "-",
    *,
    knowledge: Knowledge,
) -> Report:
    """Reads one input, whatever it is, and reports the failure in it.

    ``data`` is what was pasted or logged, ``source`` its name.
    Never raises on any input: a report without an error says that there is none to be read.
    """
    reader = reader_of(knowledge)
    lines = peel(lines_of(data, reader.marks))
    return reader.report(reader.found(lines), lines, source)


def parse_stream(
    stream: ByteStream,
    source: str = "-",
    *,
    knowledge: Knowledge,
) -> Report:
    """As `parse`, of a binary stream of any length, in bounded memory. Raises what reading it raises."""
    reader = reader_of(knowledge)
    lines = peel(streamed(stream, reader.marks))
    return reader.report(reader.found(lines), lines, source)


def parse_failures(
    stream: ByteStream,
    source: str = "-",
    *,
    knowledge: Knowledge,
) -> list[Seen]:
    """Every kind of failure in a stream; the first is the one that `parse_stream` reports. Of a log with
    thousands of failures the first and the last are counted. Raises what reading the stream raises."""
    reader = reader_of(knowledge)
    return reader.failures(peel(streamed(stream, reader.marks)), source)


@lru_cache(maxsize=2)
def reader_of(knowledge: Knowledge) -> LogReader:
    """The reader for this knowledge, kept with the patterns that it has compiled."""
    return LogReader(knowledge)


class LogReader:
    """What the case base knows, ready for use, and the steps from lines to a report."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.judge = Judge(knowledge)
        self.origins = Origins(knowledge.libraries)
        self._called = {one.name: one.called for one in knowledge.libraries if one.called}
        self.marks = lru_cache(maxsize=1)(self._marks)

    def _marks(self) -> Marks:
        """What a large input is searched for; derived where the case base lacks it."""
        knowledge = self.knowledge
        return knowledge.marks or derive(knowledge.wordings, knowledge.families)

    def report(self, found: Found, lines: Sequence[Peeled], source: str) -> Report:
        """The report of the failure to explain. ``found`` is what `found` finds in the lines."""
        if found.chosen is None:
            report = _placed(self.judge.without_exception(found.told, source), lines)
        else:
            report = self._report(found.chosen, found, lines, source)
        if any(candidate.frames for candidate in found.all):
            return report
        from diagnose.parsing.describing import described  # a traceback has no need of it

        return guarded(
            "description",
            lambda: described(
                report, lines, self.knowledge, self.judge.families, self.judge.without_exception
            ),
            report,
        )

    def failures(self, lines: Sequence[Peeled], source: str) -> list[Seen]:
        """The failure to explain and every other one that is no echo, each kind once."""
        found = self.found(lines)
        chosen = found.chosen
        if chosen is None:
            report = _placed(self.judge.without_exception(found.told, source), lines)
            return [Seen(report, 1, report.error.at)] if report.error is not None else []
        kinds: dict[object, list[selection.Candidate]] = {selection.kind(chosen): [chosen]}
        for candidate in found.all:
            if candidate.trace is not chosen.trace and selection.counts(candidate, chosen):
                kinds.setdefault(selection.kind(candidate), []).append(candidate)
        return [
            Seen(self._report(of[0], found, lines, source), len(of), min(c.trace.at for c in of))
            for of in kinds.values()
        ]

    def found(self, lines: Sequence[Peeled]) -> Found:
        """Every failure of the log, and which of them is the one to explain."""
        channels: dict[str | None, list[Peeled]] = {}
        for line in lines:
            channels.setdefault(line.channel, []).append(line)
        traces = [(channel, _bounded(assemble(read(of)))) for channel, of in channels.items()]
        found = selection.candidates(traces, self.judge.family)
        standing = overcome.standing(found, lines)
        told = overcome.told(lines, found, standing)
        first_rank = ranks.first(lines)
        chosen = selection.choose(standing, first_rank)
        if chosen is not None and chosen.trace.type is None:
            completed = self.judge.completed(chosen, told)
            shown = completed is chosen and overcome.went_on(chosen, lines)
            chosen = None if shown else completed  # a stack that was shown while all was well
        return Found(found, standing, first_rank, chosen, told)

    def _report(
        self,
        chosen: selection.Candidate,
        found: Found,
        lines: Sequence[Peeled],
        source: str,
    ) -> Report:
        if chosen.trace.type is None or not chosen.trace.message:
            chosen = self.judge.completed(chosen, lines)
        frames = tuple(self.origins.place(frame) for frame in chosen.frames)
        others = [c for c in found.all if c.trace is not chosen.trace]
        reading = self.judge.reading(chosen, others)
        error = Failure(
            chosen.trace.type or (reading.wording.exception if reading else ""),
            chosen.trace.message,
            self.judge.family(chosen.trace),
            chosen.trace.at,
        )
        sharing, alike = ranks.sharing(chosen, found.standing, lines)
        used = {frame.at for frame in frames if frame.at} | {chosen.trace.at}
        libraries = libraries_of(frames)
        called = {name: self._called[name] for name in libraries if name in self._called}
        report = Report(
            source=source,
            error=error,
            mismatch=reading.mismatch if reading else None,
            frames=frames,
            libraries=libraries,
            versions=tuple(versions.stated(lines, called)),
            context=context.telling(lines, used),
            chain=tuple(self.judge.failure(trace) for trace in chosen.chain),
            fallout=self._fallout(chosen, others),
            ranks=sharing,
            alike=alike,
        )
        return _placed(report, lines)

    def _fallout(
        self, chosen: selection.Candidate, others: Sequence[selection.Candidate]
    ) -> tuple[Failure, ...]:
        """The errors that only follow from another's, where what is explained is none of these itself."""
        if chosen.echo:
            return ()
        followed = (c.trace for c in others if c.echo and c.trace.type)
        return tuple(self.judge.failure(trace) for trace in followed)[:_MOST_FALLOUT]


def _placed(report: Report, lines: Sequence[Peeled]) -> Report:
    """The report; where no frame was pasted, with the line of source that stands above the message."""
    if report.frames or report.error is None or report.error.at is None:
        return report
    above = [one for one in lines if one.number < report.error.at and one.text.strip()]
    code = [one for one in above[-_NEAR:] if not is_annotation(one.text)][-1:]
    source = loose.alone(code[0].text) if code else None
    return (
        report._replace(frames=(Frame("", code=source, at=code[0].number),)) if source else report
    )


def _bounded(traces: list[Trace]) -> list[Trace]:
    """The first errors of a process and the last; nobody reads thousands of retries."""
    return (
        traces
        if len(traces) <= 2 * _MOST_TRACES
        else traces[:_MOST_TRACES] + traces[-_MOST_TRACES:]
    )
