"""What kind of failure an error is: device placement by its wording, all else by kb/families.toml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnose.model import FamilyRule

if TYPE_CHECKING:
    import regex

OTHER = "other"
_LINE = "line"
_LONGEST = 6000
_TIMEOUT = 0.05


class Families:
    """The rules, in the order in which they decide."""

    def __init__(self, rules: Sequence[FamilyRule]) -> None:
        self._rules = tuple(rule for rule in rules if _LINE not in rule.types)
        self._line_rules = tuple(rule for rule in rules if _LINE in rule.types)
        self._compiled: dict[str, regex.Pattern[str]] = {}

    def of_error(self, kind: str | None, message: str) -> str:
        """The family of an exception; "other" where no rule knows it."""
        name = (kind or "").split(".")[-1]
        text = f"{kind or ''}: {message}"[:_LONGEST]
        for rule in self._rules:
            if (not rule.types or name in rule.types) and self._matches(rule, text):
                return rule.family
        return OTHER

    def of_line(self, text: str) -> str | None:
        """The family of a log line that tells of a failure without an exception; None for any other."""
        return next((r.family for r in self._line_rules if self._matches(r, text)), None)

    def _matches(self, rule: FamilyRule, text: str) -> bool:
        if not rule.pattern:
            return True
        if not any(literal in text for literal in rule.literals):
            return False
        import regex

        pattern = self._compiled.get(rule.pattern)
        if pattern is None:
            pattern = self._compiled[rule.pattern] = regex.compile(rule.pattern)
        try:
            return pattern.search(text, timeout=_TIMEOUT) is not None
        except TimeoutError:
            return False
