"""One record a line, as JSON (docker's log files, structlog, python-json-logger, Kaggle, journald) or as
logfmt (the loggers of Go's collectors)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnose.parsing.transports import structured
from diagnose.parsing.transports.escaped import unescaped
from diagnose.parsing.transports.layer import Carried, LineLayer
from diagnose.patterns import lazy

_MESSAGE = (
    "full_message", "log", "data", "message", "msg", "event", "text", "MESSAGE", "@message", "line",
    "body", "payload", "textPayload", "short_message", "_raw",
)  # fmt: skip
#: How journald's JSON begins a message with escape codes, which it writes as the numbers of its bytes, so
#: that no mark of a traceback stands in it.
_BYTES = ('"MESSAGE":[', '"MESSAGE": [')
_WRAPPED = ("jsonPayload", "fields", "record", "payload", "attributes", "data", "result", "_source")
_LONGEST_PREFIX = 200
_FIELD = r"[\w.@/-]+=(?:\"(?:\\.|[^\"\\])*\"|[^\s\"]*)"
_LOGFMT = lazy(rf"^{_FIELD}(?: {_FIELD})+\s*$")
_PAIR = lazy(r"(?P<key>[\w.@/-]+)=(?:\"(?P<quoted>(?:\\.|[^\"\\])*)\"|(?P<bare>[^\s\"]*))")
_CHANNEL = (
    "rank",
    "global_rank",
    "local_rank",
    "process_rank",
    "pod",
    "pod_name",
    "container_name",
)


def read(line: str) -> Carried | None:
    """The lines that a record carries and the process it names; None where the line is no record."""
    text = line.strip().strip(",").strip()
    if text[:2] == "[{":
        if text[-2:] == "}]" and (said := _array(text)):
            return Carried(said)
        text = text[1:]  # the first element of an array, one element a line
    if text[:1] != "{":
        return _after_prefix(text) or _logfmt(line)
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
    return Carried(_lines(record), _channel(record))


def _after_prefix(text: str) -> Carried | None:
    """A collector's record that stands behind a time and a tag: only where it has a message."""
    if text[-2:] == "}]":
        text = text[:-1]  # the last element of an array, one element a line
    at = text.find('{"', 0, _LONGEST_PREFIX) if text[-1:] == "}" else -1
    if at <= 0:
        return None
    import json

    try:
        record = json.loads(text[at:])
    except (ValueError, RecursionError):
        return None
    said = _message(record) or []
    said += structured.tracebacks(record, besides=tuple(said))
    return Carried(said, _channel(record)) if said else None


def _logfmt(text: str) -> Carried | None:
    """The line in a record of keys and values, where a value is no traceback of its own."""
    if '="' not in text or "\\n" in text or _LOGFMT.match(text) is None:
        return None
    record = {
        pair["key"]: unescaped(pair["quoted"]) if pair["quoted"] is not None else pair["bare"]
        for pair in _PAIR.finditer(text)
    }
    said = _message(record)
    return Carried(said, _channel(record)) if said is not None else None


def _array(text: str) -> list[str]:
    """The tracebacks of an array on one line."""
    import json

    try:
        return structured.tracebacks(json.loads(text))
    except (ValueError, RecursionError):
        return []


def _lines(record: Mapping[str, Any]) -> list[str]:
    said = _message(record) or []
    if "log" in record or ("data" in record and "stream_name" in record):
        return said or [""]
    said += structured.tracebacks(record, besides=tuple(said))
    if not said:
        said = [value for value in record.values() if isinstance(value, str)]
    return said


def _message(record: Mapping[str, Any]) -> list[str] | None:
    """The lines of a record's message, or of that of the record within it."""
    for key in _MESSAGE:
        value = record.get(key)
        if key == "MESSAGE" and isinstance(value, list):
            value = _of_bytes(value)
        if isinstance(value, str):
            return value.rstrip("\n").split("\n")
    for key in _WRAPPED:
        inner = record.get(key)
        if isinstance(inner, Mapping) and (said := _message(inner)) is not None:
            return said
    return None


def _of_bytes(value: list[Any]) -> str | None:
    """The text that journald writes as a list of bytes where it holds an escape."""
    if not all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        return None
    return bytes(value).decode("utf-8", errors="replace")


def _channel(record: Mapping[str, Any]) -> str | None:
    for key in _CHANNEL:
        value = record.get(key)
        if isinstance(value, int | str) and str(value):
            return f"rank{value}" if "rank" in key and str(value).isdigit() else str(value)
    return None


LINE_LAYERS = (
    LineLayer("records", read, 40, "its message may hold every layer", opens=True, marks=_BYTES),
)
