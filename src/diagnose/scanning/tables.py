"""The groups of a scan as a table, JSON or CSV. Text of logs is data here: nothing in it steers a
terminal or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator

from diagnose.rendering.words import clean, width
from diagnose.scanning.grouping import Group, Grouping

COLUMNS = (
    "fingerprint", "count", "logs", "ranks", "cause", "confidence", "family", "type", "message", "file",
    "line", "function", "code", "first_log", "first_line", "first_modified",
)  # fmt: skip
#: What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table(grouping: Grouping, columns: int = 100) -> str:
    """Two lines a group: what, where, how often; and the message, cut to the width."""
    groups = grouping.ordered()
    logs = f"{grouping.logs} log" + "s" * (grouping.logs != 1)
    if not groups:
        return f"No failures found in {logs}.\n"
    kinds = f"{len(groups)} kind" + "s" * (len(groups) != 1)
    lines = [f"{kinds} of failure in {grouping.failed} of {logs}", ""]
    rows = [_cells(group) for group in groups]
    heads = ("COUNT", "LOGS", "RANKS", "CAUSE", "AT", "FIRST SEEN", "FINGERPRINT")
    widths = [max(width(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines.append(_row(heads, widths))
    for group, row in zip(groups, rows, strict=True):
        lines.append(_row(row, widths))
        said = (
            f"{group.first.type}: {group.first.message}"
            if group.first.type
            else group.first.message
        )
        lines.append("  " + _cut(clean(said), max(40, columns - 2)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def as_json(grouping: Grouping) -> str:
    """One object: ``logs``, ``unread`` and ``faults`` (sentences), and ``failures``, one object a group."""
    document = {
        "schema": 1,
        "logs": grouping.logs,
        "unread": grouping.problems,
        "faults": grouping.faults,
        "failures": [_record(group) for group in grouping.ordered()],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def as_csv(grouping: Grouping) -> str:
    """One row a group under a row of names; ranks are joined by blanks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for group in grouping.ordered():
        record = _record(group)
        record["ranks"] = _ranks(group.ranks)
        writer.writerow([_plain(record[name]) for name in COLUMNS])
    return text.getvalue()


def _record(group: Group) -> dict[str, object]:
    first = group.first
    return {
        "fingerprint": group.fingerprint,
        "count": group.count,
        "logs": group.logs,
        "ranks": sorted(group.ranks),
        "cause": first.cause,
        "confidence": first.confidence,
        "family": first.family,
        "type": first.type,
        "message": first.message,
        "file": first.file,
        "line": first.at,
        "function": first.function,
        "code": first.code,
        "first_log": first.log,
        "first_line": first.line,
        "first_modified": first.modified,
        "log_names": group.names,
    }


def _cells(group: Group) -> tuple[str, ...]:
    first = group.first
    at = f"{_tail(first.file)}:{first.at or '?'}" if first.file else "-"
    seen = f"{_tail(first.log)}:{first.line or '?'}"
    return (
        str(group.count),
        str(group.logs),
        _ranks(group.ranks) or "-",
        first.cause or f"({first.family or 'unknown'})",
        clean(at),
        clean(seen),
        group.fingerprint,
    )


def _ranks(ranks: Iterable[int]) -> str:
    """0-3 5 for 0, 1, 2, 3 and 5."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


def _tail(path: str) -> str:
    """The last two parts of a path."""
    parts = path.replace("\\", "/").split("/")
    return _cut("/".join(parts[-2:]) if len(parts) > 2 else path, 48)


def _row(cells: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(_padded(cells, widths))


def _padded(cells: Iterable[str], widths: Iterable[int]) -> Iterator[str]:
    for cell, wide in zip(cells, widths, strict=True):
        yield cell + " " * (wide - width(cell))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _plain(value: object) -> object:
    if isinstance(value, str):
        text = clean(value)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return "" if value is None else value
