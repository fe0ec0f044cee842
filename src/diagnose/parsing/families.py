"""What kind of failure an error is: device placement by its wording, all else by kb/families.toml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnose.model import FamilyRule
from diagnose.parsing.lines import Peeled

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

    def of_lines(self, lines: Sequence[Peeled]) -> tuple[str, Peeled] | None:
        """The family of a log without an exception, and the line that tells it; None where none does.

        The rules' order counts, not the lines': "Killed" says less than the kernel's line before it.
        """
        whole = "\n".join(line.text for line in lines)
        for rule in self._line_rules:
            if not any(literal in whole for literal in rule.literals):
                continue
            for line in reversed(lines):
                if self._matches(rule, line.text):
                    return rule.family, line
        return None

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
