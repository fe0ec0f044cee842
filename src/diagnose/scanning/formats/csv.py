"""The groups of a scan as CSV, which a spreadsheet opens."""

from __future__ import annotations

import csv
import io

from diagnose.rendering.words import clean
from diagnose.scanning.formats.records import record, spans
from diagnose.scanning.groups import Grouping

COLUMNS = (
    "fingerprint", "count", "logs", "ranks", "cause", "confidence", "family", "type", "message", "file",
    "line", "function", "code", "first_log", "first_line", "first_modified",
)  # fmt: skip
#: What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(grouping: Grouping, *, columns: int = 100) -> str:
    """One row a group under a row of names; ranks are joined by blanks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for group in grouping.ordered():
        values = record(group) | {"ranks": spans(group.ranks)}
        writer.writerow([_plain(values[name]) for name in COLUMNS])
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, str):
        text = clean(value)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return "" if value is None else value
