"""What an exception is: its family, and what its message says about devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from diagnose.model import DEVICE_FAMILY, Failure, Knowledge, Report, Wording
from diagnose.parsing import context, selection
from diagnose.parsing.families import Families
from diagnose.parsing.grammar import Reader
from diagnose.parsing.lines import Peeled
from diagnose.parsing.messages import Reading, Wordings
from diagnose.parsing.tracebacks.assembly import Trace

_NEAR = 400  # lines around a cut traceback in which its message is looked for
_SHORTEST_CUT = 24  # of a line alone: no exception's name says that it is an error at all


class Judge:
    """The known wordings and families, ready for use on exceptions and on lines without one."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.families = Families(knowledge.families)
        self._wordings = Wordings(knowledge.wordings)
        self._grammar = Reader(knowledge.grammar)
        #: The family of an exception by its type and message, and what the message says about devices.
        self.judged = lru_cache(maxsize=1024)(self._judged)

    def family(self, trace: Trace) -> str:
        """The family of an exception: device placement where a wording says so."""
        return self.judged(trace.type, trace.message)[0]

    def _judged(self, kind: str | None, message: str) -> tuple[str, Reading | None]:
        reading = self._wordings.read(f"{kind}: {message}")
        if reading is not None and reading.wording.device_error:
            return DEVICE_FAMILY, reading
        family, by_pattern = self.families.of_error(kind, message)
        if not by_pattern and (cut := self._cut(message)) is not None:
            return DEVICE_FAMILY, cut
        warned = (kind or "").endswith("Warning")
        if not by_pattern and not warned and (told := self._formed(kind, message)) is not None:
            return DEVICE_FAMILY, told
        # Only the files tell whether what asked for a GPU should have.
        return family, reading if reading is not None and reading.wording.says else None

    def _formed(self, kind: str | None, message: str) -> Reading | None:
        """What a form of the grammar reads in a message of no known wording."""
        said = self._grammar.read(message)
        if said is None:
            return None
        return Reading(Wording(said.wording, "", (), kind or "", "", "", says=said.says), said)

    def _cut(self, message: str) -> Reading | None:
        """A message, or its first line, that was cut in the middle of a wording and of nothing else."""
        for text in dict.fromkeys((message, message.partition("\n")[0])):
            found = self._wordings.read_cut(text)
            if found is not None and not self.families.may_be(found[1]):
                return found[0]
        return None

    def reading(
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
        return self.judged(trace.type, trace.message)[1]

    def completed(
        self, chosen: selection.Candidate, lines: Sequence[Peeled]
    ) -> selection.Candidate:
        """A traceback whose exception was cut off: a device wording near it is its message."""
        if chosen.trace.dump and (told := self.families.of_lines(lines)) is not None:
            return selection.without_type(chosen, "", told[1].text.strip(), told[1].number)
        at = chosen.frames[-1].at if chosen.frames and chosen.frames[-1].at else chosen.trace.at
        near = sorted(lines, key=lambda line: abs(line.number - at))[:_NEAR]
        if (spoken := self._wordings.first_line(near)) is not None:
            line, reading = spoken
            kind = reading.wording.exception
            if chosen.trace.type in (None, kind):
                return selection.without_type(chosen, kind, line.text.strip(), line.number)
        return chosen

    def without_exception(
        self, lines: Sequence[Peeled], source: str, also: frozenset[str] = frozenset()
    ) -> Report:
        """No exception: a device wording alone, or one that says something of ``also``, or a line about
        a killed process."""
        if (spoken := self._wordings.first_line(lines, also)) is not None:
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

    def failure(self, trace: Trace) -> Failure:
        """An exception with its family."""
        return Failure(trace.type or "", trace.message, self.family(trace), trace.at)
