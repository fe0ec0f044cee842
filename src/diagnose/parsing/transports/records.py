"""One JSON object a line: docker's log files, structlog, python-json-logger, Kaggle, journald."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnose.parsing.transports import structured

_MESSAGE = (
    "log", "data", "message", "msg", "event", "text", "MESSAGE", "@message", "line", "body", "payload",
    "textPayload", "short_message",
)  # fmt: skip
_CHANNEL = (
    "rank",
    "global_rank",
    "local_rank",
    "process_rank",
    "pod",
    "pod_name",
    "container_name",
)


def read(line: str) -> tuple[list[str], str | None] | None:
    """The lines that a record carries and the process it names; None where the line is no record."""
    text = line.strip().rstrip(",")
    if text[:1] == "[" and text[1:2] == "{":
        text = text[1:]  # the first element of an array, one element a line
    if text[:1] != "{":
        return None
    if text[-2:] == "}]":
        text = text[:-1]
    if text[-1:] != "}":
        return None
    import json  # where it is needed: most inputs hold none

    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    return _lines(record), _channel(record)


def _lines(record: Mapping[str, Any]) -> list[str]:
    said: list[str] = []
    for key in _MESSAGE:
        value = record.get(key)
        if isinstance(value, str) and value:
            said += value.rstrip("\n").split("\n")
            break
    if "log" in record or ("data" in record and "stream_name" in record):
        return said or [""]
    said += structured.tracebacks(record, besides=tuple(said))
    if not said:
        said = [value for value in record.values() if isinstance(value, str)]
    return said


def _channel(record: Mapping[str, Any]) -> str | None:
    for key in _CHANNEL:
        value = record.get(key)
        if isinstance(value, int | str) and str(value):
            return f"rank{value}" if "rank" in key and str(value).isdigit() else str(value)
    return None
