"""Log records exported as a table: CSV whose columns are time, host, message."""

from __future__ import annotations

import re
from collections import Counter

from diagnose.parsing.lines import Peeled
from diagnose.patterns import lazy

_HEADER = lazy(r"""^"?[@\w][\w .@/()-]{0,60}"?(?P<comma>[,\t;])[^\n]{1,600}$""")
_NAMES = frozenset((
    "message", "msg", "log", "logs", "line", "text", "body", "content", "payload", "textpayload", "data",
    "event", "error", "exception", "trace", "traceback", "stack", "raw", "output", "stderr",
))  # fmt: skip
_MARKS = ("Traceback", 'File "', "Error", "│", "most recent call")
_LARGEST = 32_000_000


def read(text: str) -> list[Peeled] | None:
    """The lines of the column that holds the log; None where the text is no table."""
    header = _HEADER.match(text[: text.find("\n")].rstrip("\r"))
    if header is None or not _names_a_log(header) or '"' not in text or len(text) > _LARGEST:
        return None
    import csv  # where it is needed: most inputs are no tables

    csv.field_size_limit(_LARGEST)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=header["comma"])
    rows: list[tuple[int, list[str]]] = []
    try:
        width, after = len(next(reader)), 2
        for row in reader:
            if row and len(row) != width:
                return None
            rows.append((after, row))
            after = reader.line_num + 1
    except (csv.Error, StopIteration):
        return None
    told = Counter(
        column
        for _, row in rows
        for column, field in enumerate(row)
        if any(mark in field for mark in _MARKS)
    )
    if not told:
        return None
    column = max(told, key=lambda one: told[one])
    return [
        Peeled(number + below, line)
        for number, row in rows
        if row
        for below, line in enumerate(row[column].rstrip("\n").split("\n"))
    ]


def _names_a_log(header: re.Match[str]) -> bool:
    names = (name.strip('"@_ ').lower() for name in header.group().split(header["comma"]))
    return any(name.split(".")[-1] in _NAMES for name in names)
