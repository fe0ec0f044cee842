"""Tracebacks kept as data (Sentry, structlog, error files, notebooks), written as CPython would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FILE = ("abs_path", "filename", "file", "path", "fileName", "source")
_LINE = ("lineno", "line", "lineNumber", "line_number", "line_no")
_FUNCTION = ("function", "name", "func", "method", "funcName")
_CODE = ("context_line", "code", "line_text", "source_line", "text", "line")
_TYPE = ("type", "exc_type", "ename", "exception_type", "errorClass", "errorType", "class", "kind")
_VALUE = ("value", "exc_value", "evalue", "message", "exception_message", "errorMessage", "msg")
_STACK = ("stack_trace", "stackTrace")
_CHILDREN = ("exceptions", "causes")
_DEEPEST = 12
_MARKS = ("Traceback (most recent call last)", 'File "', "Traceback ", "E   ")
_SAID = ("message", "data", "log", "textPayload", "line", "text", "MESSAGE", "_raw")
#: What collectors put around a record.
_WRAPPED = ("jsonPayload", "_source", "attributes", "result", "fields")
_HEADER = "Traceback (most recent call last):"
_DURING = "During handling of the above exception, another exception occurred:"
_CAUSE = "The above exception was the direct cause of the following exception:"
_MEMBER = "+-+---------------- {} ----------------"


def tracebacks(data: Any, *, besides: Sequence[str] = (), depth: int = 0) -> list[str]:
    """Every traceback in decoded JSON, as lines, in the order in which they stand."""
    if depth > _DEEPEST:
        return []
    if isinstance(data, str):
        if any(mark in data for mark in _MARKS) and data.split("\n")[0] not in besides:
            return data.rstrip("\n").split("\n")
        return []
    if isinstance(data, Mapping):
        if (written := _exception(data, depth) or _headless(data)) is not None:
            return written
        found: list[str] = []
        for value in data.values():
            found += tracebacks(value, besides=besides, depth=depth + 1)
        return found
    if isinstance(data, Sequence):
        if all(isinstance(item, str) for item in data):
            joined = "".join(i if i.endswith("\n") else i + "\n" for i in data)
            return tracebacks(joined, besides=besides, depth=depth + 1) if data else []
        if (written := _chain(data, depth) or _log(data, besides)) is not None:
            return written
        found = []
        for item in data:
            found += tracebacks(item, besides=besides, depth=depth + 1)
        return found
    return []


def _chain(data: Sequence[Any], depth: int) -> list[str] | None:
    """A list of exceptions that belong together, or of frames alone, as one traceback."""
    if not data or not all(isinstance(item, Mapping) for item in data):
        return None
    if all(_first(item, _FILE) and isinstance(_first(item, _LINE), int) for item in data):
        return [_HEADER, *_frames(data)] if _first(data[0], _FUNCTION) else None
    written = [_exception(item, depth) for item in data]
    if any(one is None for one in written):
        return None
    return _related(data, written)


def _log(data: Sequence[Any], besides: Sequence[str]) -> list[str] | None:
    """A list of log records, each of which holds a line, where a traceback runs through them."""
    said: list[str] = []
    for item in data:
        value = _said(item)
        if value is None:
            return None
        said.append(value.rstrip("\n"))
    joined = "\n".join(said)
    if found := tracebacks(joined, besides=besides):
        return found
    records = any(line.startswith("{") and '"exc' in line for line in said)
    return said if records else None


def _said(item: Any) -> str | None:
    """The line that a record holds: its message, that of the record within it, or the second of a pair
    of time and line."""
    if isinstance(item, Mapping):
        value = _first(item, _SAID)
        if isinstance(value, str):
            return value
        inner = _first(item, _WRAPPED)
        return _said(inner) if isinstance(inner, Mapping) else None
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[1], str):
        return item[1] if isinstance(item[0], str) and item[0].isdigit() else None
    return None


def _related(
    data: Sequence[Mapping[str, Any]], written: Sequence[list[str] | None]
) -> list[str] | None:
    """Exceptions one after another, by what their list says of their order."""
    if any("is_cause" in item for item in data):
        return _latest_first(data, written)
    if any(_mechanism(item).get("is_exception_group") for item in data):
        return _numbered(data, written)
    if any("mechanism" in item or "stacktrace" in item for item in data):
        return _joined([(one or [], _CAUSE) for one in written])
    return None


def _latest_first(
    data: Sequence[Mapping[str, Any]], written: Sequence[list[str] | None]
) -> list[str]:
    """The order of structlog and rich: the exception that was raised, then what it came from."""
    relations = [_CAUSE if item.get("is_cause") else _DURING for item in data]
    turned = list(zip((one or [] for one in written), relations, strict=True))[::-1]
    # Each says how it relates to the exception that stands before it in the list.
    return _joined(
        [(turned[0][0], ""), *((turned[i][0], turned[i - 1][1]) for i in range(1, len(turned)))]
    )


def _numbered(data: Sequence[Mapping[str, Any]], written: Sequence[list[str] | None]) -> list[str]:
    """Sentry's order of a group: by number, the members after the group."""
    pairs = sorted(
        zip(data, written, strict=True),
        key=lambda pair: int(_mechanism(pair[0]).get("exception_id") or 0),
    )
    lines: list[str] = []
    for item, one in pairs:
        if str(_mechanism(item).get("source", "")).startswith("exceptions["):
            lines.append(_MEMBER.format(_mechanism(item).get("exception_id")))
        lines += one or []
    return lines


def _joined(exceptions: Sequence[tuple[list[str], str]]) -> list[str]:
    lines: list[str] = []
    for one, relation in exceptions:
        lines += [relation, "", *one] if lines else one
    return lines


def _mechanism(item: Mapping[str, Any]) -> Mapping[str, Any]:
    mechanism = item.get("mechanism")
    return mechanism if isinstance(mechanism, Mapping) else {}


def _exception(data: Mapping[str, Any], depth: int) -> list[str] | None:
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
    if frames and not any(isinstance(frame, Mapping) for frame in frames):
        return None  # printed lines
    lines = [_HEADER, *_frames(_ordered([frame for frame in frames if isinstance(frame, Mapping)]))]
    value = _first(said, _VALUE)
    module = said.get("module")
    name = (
        f"{module}.{kind}" if isinstance(module, str) and module not in ("builtins", "") else kind
    )
    lines += f"{name}: {value}".split("\n") if value not in (None, "") else [name]
    return [*lines, "", *_members(data, depth)]


def _headless(data: Mapping[str, Any]) -> list[str] | None:
    """An exception whose frames alone are kept as printed (ECS, AWS Lambda)."""
    stack = _first(data, _STACK)
    if isinstance(stack, list) and all(isinstance(part, str) for part in stack):
        stack = "".join(part if part.endswith("\n") else f"{part}\n" for part in stack)
    if not isinstance(stack, str) or 'File "' not in stack or _HEADER in stack:
        return None
    kind, value = _first(data, _TYPE), _first(data, _VALUE)
    named = f"{kind}: {value}" if isinstance(kind, str) else f"{value}"
    return [_HEADER, *stack.rstrip("\n").split("\n"), *named.split("\n")]


def _members(data: Mapping[str, Any], depth: int) -> list[str]:
    """The members of an exception group that keeps them itself."""
    members = _first(data, _CHILDREN)
    if not isinstance(members, list):
        return []
    lines: list[str] = []
    for number, member in enumerate(members, 1):
        if written := tracebacks(member, depth=depth + 1):
            lines += [_MEMBER.format(number), *written]
    return lines


def _frames(frames: Sequence[Mapping[str, Any]]) -> list[str]:
    lines: list[str] = []
    for frame in frames:
        if file := _file(frame):
            line, function = _first(frame, _LINE), _first(frame, _FUNCTION)
            lines.append(f'  File "{file}", line {line or 0}, in {function or "?"}')
            code = _first(frame, _CODE)
            if isinstance(code, str) and code.strip():
                lines.append(f"    {code.strip()}")
    return lines


def _file(frame: Mapping[str, Any]) -> Any:
    """The file of a frame; Sentry's absolute path of "<string>" is none."""
    file, name = _first(frame, _FILE), frame.get("filename")
    return name if isinstance(name, str) and name.startswith("<") else file


def _ordered(frames: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Outermost first: some collectors store the most recent call first."""
    if len(frames) < 2:
        return frames
    first, last = _first(frames[0], _FUNCTION), _first(frames[-1], _FUNCTION)
    return frames[::-1] if last == "<module>" and first != "<module>" else frames


def _first(data: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((data[key] for key in keys if data.get(key) is not None), None)
