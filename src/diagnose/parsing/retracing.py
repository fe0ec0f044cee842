"""How a report came about, for `diagnose kb why`: the same steps as `parse_stream`, with an onlooker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diagnose.model import Knowledge, Report
from diagnose.parsing.bytestream import ByteStream
from diagnose.parsing.entering import streamed
from diagnose.parsing.lines import Peeled
from diagnose.parsing.peeling import peel
from diagnose.parsing.report import Found, reader_of
from diagnose.parsing.watching import Taken, Watch


class Retraced(NamedTuple):
    """The layers that were taken off, the lines that they left, the failures found there, the report."""

    layers: Sequence[Taken]
    lines: Sequence[Peeled]
    found: Found
    report: Report


def retrace(stream: ByteStream, source: str, *, knowledge: Knowledge) -> Retraced:
    """As `parse_stream`, with what it has decided on the way. Raises what reading the stream raises."""
    reader, watch = reader_of(knowledge), Watch()
    lines = peel(streamed(stream, reader.marks, watch), watch)
    found = reader.found(lines)
    return Retraced(watch.taken, lines, found, reader.report(found, lines, source))
