"""Reading one TOML table strictly: every mistake is noted with file, key and reason, none is fatal."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import toml_of


class Entry:
    """A TOML table that remembers where it stands and which of its keys were read.

    Readers return an empty value for what is missing or wrong and append a `KbError` to ``problems``,
    so that one pass over a file finds all its mistakes.
    """

    def __init__(
        self, data: dict[str, Any], file: str, problems: list[KbError], at: str = ""
    ) -> None:
        self.data = data
        self.file = file
        self.problems = problems
        self.at = at
        self._read: set[str] = set()

    @classmethod
    def of_file(cls, path: Path, root: Path, problems: list[KbError]) -> Entry:
        """The top-level table of a TOML file; an empty one where the file cannot be read."""
        name = path.relative_to(root).as_posix()
        try:
            data = toml_of(path, name)
        except KbError as error:
            problems.append(error)
            data = {}
        return cls(data, name, problems)

    def problem(self, key: str, reason: str) -> None:
        """Notes that ``key`` is wrong."""
        self.problems.append(KbError(self.file, f"{self.at}{key}", reason))

    def _value(self, key: str, kind: type | tuple[type, ...], what: str, optional: bool) -> Any:
        self._read.add(key)
        value = self.data.get(key)
        if value is None:
            if not optional:
                self.problem(key, "is missing")
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.problem(key, f"must be {what}")
            value = None
        return value

    def text(self, key: str, *, one_of: Collection[str] | None = None, limit: int = 4000) -> str:
        """A non-empty string, from ``one_of`` where given."""
        return self.optional_text(key, one_of=one_of, limit=limit, optional=False) or ""

    def optional_text(
        self,
        key: str,
        *,
        one_of: Collection[str] | None = None,
        limit: int = 4000,
        optional: bool = True,
    ) -> str | None:
        """As `text`, None where the key is missing."""
        value = self._value(key, str, "a string", optional)
        if value is None:
            return None
        value = value.strip()
        if not value:
            self.problem(key, "is empty")
        elif len(value) > limit:
            self.problem(key, f"has {len(value)} characters, at most {limit} are allowed")
        elif one_of is not None and value not in one_of:
            self.problem(key, f"{value!r} is not a known id")
        return str(value)

    def strings(
        self, key: str, *, one_of: Collection[str] | None = None, optional: bool = False
    ) -> list[str]:
        """A list of strings, each from ``one_of`` where given."""
        value = self._value(key, list, "a list of strings", optional) or []
        for item in value:
            if not isinstance(item, str):
                self.problem(key, "must be a list of strings")
                return []
            if one_of is not None and item not in one_of:
                self.problem(key, f"{item!r} is not a known id")
        return list(value)

    def number(self, key: str, low: float, high: float) -> float:
        """A number from ``low`` to ``high``; 0 where it is neither."""
        value = self._value(key, (int, float), "a number", False)
        if value is not None and not low <= value <= high:  # nor is nan
            self.problem(key, f"must lie between {low} and {high}")
            value = None
        return float(value or 0)

    def table(self, key: str, *, optional: bool = False) -> Entry:
        """A table under ``key``."""
        value = self._value(key, dict, "a table", optional)
        return Entry(value or {}, self.file, self.problems, f"{self.at}{key}.")

    def tables(self, key: str, *, at_least: int = 0) -> list[Entry]:
        """A list of tables under ``key``."""
        value = self._value(key, list, "a list of tables", at_least == 0) or []
        if len(value) < at_least and key in self.data:
            self.problem(key, f"needs at least {at_least}")
        if not all(isinstance(item, dict) for item in value):
            self.problem(key, "must be a list of tables")
            return []
        return [
            Entry(item, self.file, self.problems, f"{self.at}{key}[{position}].")
            for position, item in enumerate(value)
        ]

    def done(self) -> None:
        """Notes every key that no reader asked for."""
        for key in self.data.keys() - self._read:
            self.problem(key, "is not a key that is known here")
