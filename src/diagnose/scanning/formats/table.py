"""The groups of a scan as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.rendering.words import clean, width
from diagnose.scanning.formats.records import spans
from diagnose.scanning.groups import Group, Grouping


def render(grouping: Grouping, *, columns: int = 100) -> str:
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


def _cells(group: Group) -> tuple[str, ...]:
    first = group.first
    at = f"{_tail(first.file)}:{first.at or '?'}" if first.file else "-"
    seen = f"{_tail(first.log)}:{first.line or '?'}"
    return (
        str(group.count),
        str(group.logs),
        spans(group.ranks) or "-",
        first.cause or f"({first.family or 'unknown'})",
        clean(at),
        clean(seen),
        group.fingerprint,
    )


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
