"""Tracebacks kept as data (Sentry, structlog, error files, notebooks), written as CPython would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FILE = ("abs_path", "filename", "file", "path", "fileName", "source")
_LINE = ("lineno", "line", "lineNumber", "line_number", "line_no")
_FUNCTION = ("function", "name", "func", "method", "funcName")
_CODE = ("context_line", "code", "line_text", "source_line", "text")
_TYPE = ("type", "exc_type", "ename", "exception_type", "errorClass", "class", "kind")
_VALUE = ("value", "exc_value", "evalue", "message", "exception_message", "msg")
_DEEPEST = 12
_MARKS = ("Traceback (most recent call last)", 'File "', "Traceback ")


def tracebacks(data: Any, *, besides: Sequence[str] = (), depth: int = 0) -> list[str]:
    """Every traceback in decoded JSON, as lines, in the order in which they stand."""
    if depth > _DEEPEST:
        return []
    if isinstance(data, str):
        if any(mark in data for mark in _MARKS) and data.split("\n")[0] not in besides:
            return data.rstrip("\n").split("\n")
        return []
    if isinstance(data, Mapping):
        if (written := _exception(data)) is not None:
            return written
        found: list[str] = []
        for value in data.values():
            found += tracebacks(value, besides=besides, depth=depth + 1)
        return found
    if isinstance(data, Sequence):
        if all(isinstance(item, str) for item in data):
            joined = "".join(i if i.endswith("\n") else i + "\n" for i in data)
            return tracebacks(joined, besides=besides, depth=depth + 1) if data else []
        found = []
        for item in data:
            found += tracebacks(item, besides=besides, depth=depth + 1)
        return found
    return []


def _exception(data: Mapping[str, Any]) -> list[str] | None:
    """An exception with its frames; a notebook's error has its traceback as printed lines."""
    printed = data.get("traceback")
    if isinstance(printed, list) and isinstance(data.get("ename"), str):
        return "\n".join(str(part) for part in printed).split("\n") or None
    frames = data.get("frames")
    stack = data.get("stacktrace")
    if frames is None and isinstance(stack, Mapping):
        frames = stack.get("frames")
    if frames is None:
        frames = stack
    nested = data.get("exception")
    said = nested if isinstance(nested, Mapping) else data
    kind = _first(said, _TYPE)
    if not isinstance(frames, list) or not isinstance(kind, str):
        return None
    frames = _ordered([frame for frame in frames if isinstance(frame, Mapping)])
    lines = ["Traceback (most recent call last):"]
    for frame in frames:
        if file := _first(frame, _FILE):
            line, function = _first(frame, _LINE), _first(frame, _FUNCTION)
            lines.append(f'  File "{file}", line {line or 0}, in {function or "?"}')
            code = _first(frame, _CODE)
            if isinstance(code, str) and code.strip():
                lines.append(f"    {code.strip()}")
    value = _first(said, _VALUE)
    module = said.get("module")
    name = (
        f"{module}.{kind}" if isinstance(module, str) and module not in ("builtins", "") else kind
    )
    lines += f"{name}: {value}".split("\n") if value not in (None, "") else [name]
    return [*lines, ""]


def _ordered(frames: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Outermost first: some collectors store the most recent call first."""
    if len(frames) < 2:
        return frames
    first, last = _first(frames[0], _FUNCTION), _first(frames[-1], _FUNCTION)
    return frames[::-1] if last == "<module>" and first != "<module>" else frames


def _first(data: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((data[key] for key in keys if data.get(key) is not None), None)
