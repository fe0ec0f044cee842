"""`parse`: from what was pasted to a `Report`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from diagnose.bulkhead import guarded
from diagnose.model import (
    DEVICE_FAMILY,
    Failure,
    Knowledge,
    Marks,
    Report,
)
from diagnose.parsing import context, overcome, ranks, selection, versions
from diagnose.parsing.bytestream import ByteStream
from diagnose.parsing.entering import lines_of, streamed
from diagnose.parsing.families import Families
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import derive
from diagnose.parsing.messages import Reading, Wordings
from diagnose.parsing.origin import Origins, libraries_of
from diagnose.parsing.peeling import peel
from diagnose.parsing.tracebacks.assembly import Trace, assemble
from diagnose.parsing.tracebacks.reader import read

_MOST_TRACES = 250
_MOST_FALLOUT = 32
_NEAR = 400  # lines around a cut traceback in which its message is looked for
_SHORTEST_CUT = 24  # of a line alone: no exception's name says that it is an error at all


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
        self.wordings = Wordings(knowledge.wordings)
        self.families = Families(knowledge.families)
        self.origins = Origins(knowledge.libraries)
        self._called = {one.name: one.called for one in knowledge.libraries if one.called}
        self._judge = lru_cache(maxsize=1024)(self._judged)
        self.marks = lru_cache(maxsize=1)(self._marks)

    def _marks(self) -> Marks:
        """What a large input is searched for; derived where the case base lacks it."""
        knowledge = self.knowledge
        return knowledge.marks or derive(knowledge.wordings, knowledge.families)

    def report(self, found: Found, lines: Sequence[Peeled], source: str) -> Report:
        """The report of the failure to explain. ``found`` is what `found` finds in the lines."""
        if found.chosen is None:
            report = self._without_exception(found.told, source)
        else:
            report = self._report(found.chosen, found.all, lines, source)
        if any(candidate.frames for candidate in found.all):
            return report
        from diagnose.parsing.describing import described  # a traceback has no need of it

        return guarded(
            "description",
            lambda: described(
                report, lines, self.knowledge, self.families, self._without_exception
            ),
            report,
        )

    def failures(self, lines: Sequence[Peeled], source: str) -> list[Seen]:
        """The failure to explain and every other one that is no echo, each kind once."""
        found, _, _, chosen, told = self.found(lines)
        if chosen is None:
            report = self._without_exception(told, source)
            return [Seen(report, 1, report.error.at)] if report.error is not None else []
        kinds: dict[object, list[selection.Candidate]] = {selection.kind(chosen): [chosen]}
        for candidate in found:
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
        found = selection.candidates(traces, self.family)
        standing = overcome.standing(found, lines)
        told = overcome.told(lines, found, standing)
        first_rank = ranks.first(lines)
        chosen = selection.choose(standing, first_rank)
        if chosen is not None and chosen.trace.type is None:
            completed = self._completed(chosen, told)
            shown = completed is chosen and overcome.went_on(chosen, lines)
            chosen = None if shown else completed  # a stack that was shown while all was well
        return Found(found, standing, first_rank, chosen, told)

    def _report(
        self,
        chosen: selection.Candidate,
        found: Sequence[selection.Candidate],
        lines: Sequence[Peeled],
        source: str,
    ) -> Report:
        if chosen.trace.type is None or not chosen.trace.message:
            chosen = self._completed(chosen, lines)
        frames = tuple(self.origins.place(frame) for frame in chosen.frames)
        others = [c for c in found if c.trace is not chosen.trace]
        reading = self._reading(chosen, others)
        error = Failure(
            chosen.trace.type or (reading.wording.exception if reading else ""),
            chosen.trace.message,
            self.family(chosen.trace),
            chosen.trace.at,
        )
        used = {frame.at for frame in frames if frame.at} | {chosen.trace.at}
        libraries = libraries_of(frames)
        called = {name: self._called[name] for name in libraries if name in self._called}
        return Report(
            source=source,
            error=error,
            mismatch=reading.mismatch if reading else None,
            frames=frames,
            libraries=libraries,
            versions=tuple(versions.stated(lines, called)),
            context=context.telling(lines, used),
            chain=tuple(self._failure(trace) for trace in chosen.chain),
            fallout=self._fallout(chosen, others),
            ranks=ranks.sharing(chosen, found) or ranks.listed(chosen, lines),
        )

    def family(self, trace: Trace) -> str:
        """The family of an exception: device placement where a wording says so."""
        return self._judge(trace.type, trace.message)[0]

    def _judged(self, kind: str | None, message: str) -> tuple[str, Reading | None]:
        reading = self.wordings.read(f"{kind}: {message}")
        if reading is not None and reading.wording.device_error:
            return DEVICE_FAMILY, reading
        family, by_pattern = self.families.of_error(kind, message)
        if not by_pattern and (cut := self._cut(message)) is not None:
            return DEVICE_FAMILY, cut
        return family, None

    def _cut(self, message: str) -> Reading | None:
        """A message, or its first line, that was cut in the middle of a wording and of nothing else."""
        for text in dict.fromkeys((message, message.partition("\n")[0])):
            found = self.wordings.read_cut(text)
            if found is not None and not self.families.may_be(found[1]):
                return found[0]
        return None

    def _reading(
        self, chosen: selection.Candidate, others: Sequence[selection.Candidate]
    ) -> Reading | None:
        """What the error says about devices; where it names none (a metric that wraps the error of an
        operator), what the exception before it says."""
        reading = self._device_reading(chosen.trace)
        if reading is None or reading.mismatch.devices:
            return reading
        before = [
            c.trace for c in others if c.channel == chosen.channel and c.trace.at < chosen.trace.at
        ]
        for trace in (*reversed(chosen.chain), *before[-1:]):
            inner = self._device_reading(trace)
            if inner is not None and inner.mismatch.devices:
                told = inner.mismatch._replace(
                    wording=reading.wording.id, says=reading.wording.says
                )
                return Reading(reading.wording, told)
        return reading

    def _device_reading(self, trace: Trace) -> Reading | None:
        return self._judge(trace.type, trace.message)[1]

    def _completed(
        self, chosen: selection.Candidate, lines: Sequence[Peeled]
    ) -> selection.Candidate:
        """A traceback whose exception was cut off: a device wording near it is its message."""
        if chosen.trace.dump and (told := self.families.of_lines(lines)) is not None:
            return selection.without_type(chosen, "", told[1].text.strip(), told[1].number)
        at = chosen.frames[-1].at if chosen.frames and chosen.frames[-1].at else chosen.trace.at
        near = sorted(lines, key=lambda line: abs(line.number - at))[:_NEAR]
        if (spoken := self.wordings.first_line(near)) is not None:
            line, reading = spoken
            kind = reading.wording.exception
            if chosen.trace.type in (None, kind):
                return selection.without_type(chosen, kind, line.text.strip(), line.number)
        return chosen

    def _without_exception(self, lines: Sequence[Peeled], source: str) -> Report:
        """No exception: a device wording alone, or a line that tells of a killed process."""
        if (spoken := self.wordings.first_line(lines)) is not None:
            line, reading = spoken
            kind = reading.wording.exception
            error = Failure(kind, line.text.strip(), DEVICE_FAMILY, line.number)
            told = context.telling(lines, {line.number})
            return Report(source, error, reading.mismatch, context=told)
        if (cut := self._cut_off(lines)) is not None:
            line, reading = cut
            kind = reading.wording.exception
            error = Failure(kind, line.text.strip(), DEVICE_FAMILY, line.number)
            return Report(source, error, reading.mismatch)
        if (known := self.families.of_lines(lines)) is not None:
            family, line = known
            error = Failure("", line.text.strip(), family, line.number)
            return Report(source=source, error=error)
        return Report(source=source)

    def _cut_off(self, lines: Sequence[Peeled]) -> tuple[Peeled, Reading] | None:
        """The last line, where it is the beginning of a device error and the input ends in it."""
        last = next((line for line in reversed(lines) if line.text.strip()), None)
        if last is None or len(last.text.strip()) < _SHORTEST_CUT:
            return None
        reading = self._cut(last.text.strip())
        return (last, reading) if reading is not None else None

    def _fallout(
        self, chosen: selection.Candidate, others: Sequence[selection.Candidate]
    ) -> tuple[Failure, ...]:
        """The errors that only follow from another's, where what is explained is none of these itself."""
        if chosen.echo:
            return ()
        followed = (c.trace for c in others if c.echo and c.trace.type)
        return tuple(self._failure(trace) for trace in followed)[:_MOST_FALLOUT]

    def _failure(self, trace: Trace) -> Failure:
        return Failure(trace.type or "", trace.message, self.family(trace), trace.at)


def _bounded(traces: list[Trace]) -> list[Trace]:
    """The first errors of a process and the last; nobody reads thousands of retries."""
    return (
        traces
        if len(traces) <= 2 * _MOST_TRACES
        else traces[:_MOST_TRACES] + traces[-_MOST_TRACES:]
    )
