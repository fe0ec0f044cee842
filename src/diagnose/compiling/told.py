"""What pydantic and the checks find, told as mistakes of a file: line, key, reason, what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from diagnose.compiling.kberror import KbError
from diagnose.compiling.models.strict import near
from diagnose.compiling.positions import Way, key_of, line_of, positions

_Details = Mapping[str, Any]
#: What stands after the key, by the type of pydantic's error; its context and the value fill it.
_REASONS: Mapping[str, Callable[[_Details, Any], str]] = {
    "kb": lambda ctx, value: str(ctx["reason"]),
    "missing": lambda ctx, value: "is missing",
    "string_type": lambda ctx, value: f"must be a string, not {_kind(value)}",
    "bool_type": lambda ctx, value: f"must be true or false, not {_kind(value)}",
    "int_type": lambda ctx, value: f"must be a whole number, not {_kind(value)}",
    "float_type": lambda ctx, value: f"must be a number, not {_kind(value)}",
    "tuple_type": lambda ctx, value: f"must be a list, not {_kind(value)}",
    "date_type": lambda ctx, value: f"must be a date such as 2026-11-22, not {_kind(value)}",
    "dict_type": lambda ctx, value: f"must be a table, not {_kind(value)}",
    "model_type": lambda ctx, value: f"must be a table, not {_kind(value)}",
    "string_too_short": lambda ctx, value: "is empty",
    "string_too_long": lambda ctx, value: (
        f"has {len(value.strip())} characters; allowed: at most {ctx['max_length']}"
    ),
    "too_short": lambda ctx, value: (
        f"has {ctx['actual_length']} entries; allowed: at least {ctx['min_length']}"
    ),
    "too_long": lambda ctx, value: (
        f"has more than {ctx['max_length']} entries; allowed: {ctx['max_length']}"
    ),
    "literal_error": lambda ctx, value: f"is {_short(repr(value))}; allowed: {ctx['expected']}",
    "greater_than_equal": lambda ctx, value: f"is {_short(str(value))}; allowed: from {ctx['ge']}",
    "less_than_equal": lambda ctx, value: f"is {_short(str(value))}; allowed: up to {ctx['le']}",
    "finite_number": lambda ctx, value: f"is {value}; allowed: finite numbers",
    "string_pattern_mismatch": lambda ctx, value: (
        f"is {_short(repr(value))}; allowed: {ctx['pattern']}"
    ),
}

#: Characters of a value that a sentence shows.
_LONGEST = 80


def _short(value: str) -> str:
    """A value as a sentence has room for it."""
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def mistake(file: str, text: str, document: Mapping[str, Any], path: Way, reason: str) -> KbError:
    """A mistake at a key of a TOML file, with its line."""
    return KbError(file, key_of(document, path), reason, line_of(_positions(text), path))


def mistakes(
    file: str,
    text: str,
    document: Mapping[str, Any],
    model: type[BaseModel],
    error: ValidationError,
) -> list[KbError]:
    """All that pydantic says of a file."""
    found = []
    for one in error.errors(include_url=False):
        if one["type"] == "too_short" and len(one["input"]) >= one["ctx"]["min_length"]:
            continue  # the entries are there, only not as they should be, which is told of each
        path = tuple(part for part in one["loc"] if part != "[key]")
        if one["type"] == "extra_forbidden":
            allowed = _allowed(_schema(model), path[:-1])
            reason = f"is not a key that is known here{near(str(path[-1]), allowed)}"
        else:
            tell = _REASONS.get(one["type"], lambda ctx, value, said=one["msg"]: said)
            reason = tell(one.get("ctx", {}), one["input"])
        found.append(mistake(file, text, document, path, reason))
    return found


_positions = lru_cache(maxsize=64)(positions)


@lru_cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _kind(value: Any) -> str:
    """What a value is, for people; a number itself."""
    for kind, named in ((str, "a string"), (list, "a list"), (dict, "a table")):
        if isinstance(value, kind):
            return named
    return str(value).lower()  # true, 1.5, a date


def _allowed(schema: Mapping[str, Any], path: Way) -> list[str]:
    """The keys of the table at ``path``, read off the JSON Schema of the file."""
    node: Mapping[str, Any] = _resolved(schema, schema)
    for part in path:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            others = next(iter(node.get("patternProperties", {}).values()), None)
            others = others or node.get("additionalProperties", {})
            node = node.get("properties", {}).get(part) or others
        node = _resolved(node, schema)
    return list(node.get("properties", {}))


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node without references and without the choice of leaving it out."""
    for one in node.get("anyOf", ()):
        if one.get("type") != "null":
            node = one
    while "$ref" in node:
        node = schema["$defs"][str(node["$ref"]).rpartition("/")[2]]
    return node
