"""A group of equal failures as plain values, which all forms print."""

from __future__ import annotations

from collections.abc import Iterable

from diagnose.scanning.groups import Group


def record(group: Group) -> dict[str, object]:
    """What tools get of a group, as plain values."""
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


def spans(ranks: Iterable[int]) -> str:
    """0-3 5 for 0, 1, 2, 3 and 5."""
    found: list[list[int]] = []
    for rank in sorted(ranks):
        if found and rank == found[-1][1] + 1:
            found[-1][1] = rank
        else:
            found.append([rank, rank])
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)
