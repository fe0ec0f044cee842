"""Whole documents of JSON: notebooks, Sentry events, torch elastic's error files, test reports."""

from __future__ import annotations

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports import structured

_LARGEST = 32_000_000


def read(text: str) -> list[Peeled] | None:
    """The tracebacks of a document as lines that know where they stand in it; None where it is none."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]") or len(text) > _LARGEST:
        return None
    import json  # where it is needed: most inputs are none

    try:
        document = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict | list) or _is_records(document):
        return None
    lines = structured.tracebacks(document)
    if not lines:
        return None
    return _located(lines, text)


def _is_records(document: object) -> bool:
    """A list of log records is read record by record."""
    return isinstance(document, list) and all(
        isinstance(item, dict) and ("data" in item or "log" in item) for item in document
    )


def _located(lines: list[str], text: str) -> list[Peeled]:
    """The lines with the numbers of the input's lines that hold them (the latest known, where none)."""
    import json

    found: list[Peeled] = []
    position, number = 0, 1
    for line in lines:
        needle = json.dumps(line.strip())[1:-1][:60]
        at = text.find(needle, position) if needle else -1
        if at >= 0:
            number += text.count("\n", position, at)
            position = at
        found.append(Peeled(number, line))
    return found
