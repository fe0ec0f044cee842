"""Reads the part of kb/ that parsing uses: messages, libraries and families, as values of `model`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import toml_of
from diagnose.compiling.words import UnknownListError, alternations, expanded
from diagnose.model import FamilyRule, Library, Wording


def load_words(path: Path) -> dict[str, str]:
    """Every list of words.toml as the pattern that it stands for. Raises `KbError`."""
    table = toml_of(path, path.name)
    lists = {name: _strings(table, name, path, needed=True) for name in table}
    try:
        return alternations(lists)
    except UnknownListError as error:
        raise KbError(path.name, "-", str(error)) from None


def load_wordings(path: Path) -> tuple[Wording, ...]:
    """Every `[[wording]]` of messages.toml, in file order. Raises `KbError`."""
    words = load_words(path.with_name("words.toml"))
    return tuple(
        Wording(
            id=_text(entry, "id", path),
            pattern=_pattern(entry, path, words),
            literals=_strings(entry, "literals", path, needed=True),
            exception=_text(entry, "exception", path),
            component=_text(entry, "component", path),
            versions=_text(entry, "versions", path),
            device_error=_flag(entry, "device_error", path, default=True),
            quotes=_flag(entry, "quotes", path, default=False),
            says=_strings(entry, "says", path),
        )
        for entry in _entries(path, "wording", "id")
    )


def load_libraries(path: Path) -> tuple[Library, ...]:
    """Every `[[library]]` of libraries.toml, in file order. Raises `KbError`."""
    return tuple(_library(entry, path) for entry in _entries(path, "library", "name"))


def _library(entry: Mapping[str, Any], path: Path) -> Library:
    distributions = _strings(entry, "distributions", path)
    return Library(
        name=_text(entry, "name", path),
        marks=_strings(entry, "marks", path),
        kind=_text(entry, "kind", path),
        distribution=distributions[0] if len(distributions) == 1 else None,
    )


def load_families(path: Path) -> tuple[FamilyRule, ...]:
    """Every `[[rule]]` of families.toml, in the order in which they decide. Raises `KbError`."""
    return tuple(
        FamilyRule(
            id=_text(entry, "id", path),
            family=_text(entry, "family", path),
            pattern=_pattern(entry, path, {}) if "pattern" in entry else "",
            literals=_strings(entry, "literals", path, needed="pattern" in entry),
            types=_strings(entry, "types", path),
        )
        for entry in _entries(path, "rule", "id")
    )


def _entries(path: Path, table: str, key: str) -> list[Mapping[str, Any]]:
    """The entries of the one array of tables that a file holds, their keys present and unlike."""
    document = toml_of(path, path.name)
    entries = document.get(table)
    if not isinstance(entries, list) or not entries:
        raise KbError(path.name, table, "holds no such entries")
    seen: set[str] = set()
    for entry in entries:
        name = _text(entry, key, path)
        if name in seen:
            raise KbError(path.name, name, "stands there twice")
        seen.add(name)
    return entries


def _pattern(entry: Mapping[str, Any], path: Path, words: Mapping[str, str]) -> str:
    import regex

    try:
        pattern = expanded(_text(entry, "pattern", path), words)
        regex.compile(pattern)
    except (regex.error, UnknownListError) as error:
        raise KbError(path.name, _name(entry), f"pattern does not compile: {error}") from error
    return pattern


def _text(entry: Mapping[str, Any], key: str, path: Path) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise KbError(path.name, f"{_name(entry)}.{key}", "wants a text that is not empty")
    return value


def _strings(
    entry: Mapping[str, Any], key: str, path: Path, *, needed: bool = False
) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise KbError(path.name, f"{_name(entry)}.{key}", "wants a list of texts")
    if needed and not value:
        raise KbError(path.name, f"{_name(entry)}.{key}", "wants at least one text")
    return tuple(value)


def _flag(entry: Mapping[str, Any], key: str, path: Path, *, default: bool) -> bool:
    value = entry.get(key, default)
    if not isinstance(value, bool):
        raise KbError(path.name, f"{_name(entry)}.{key}", "wants true or false")
    return value


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("id") or entry.get("name") or "?")
