"""What kind of failure an error is: device placement by its wording, all else by kb/families.toml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnose.model import FamilyRule
from diagnose.parsing.lines import Peeled

if TYPE_CHECKING:
    import regex

OTHER = "other"
#: The type of rules that read the lines of a log in which no exception stands.
LINE = "line"
_LONGEST = 6000
_TIMEOUT = 0.05
_NO_TEXT = "\0"  # stands in no message


class Families:
    """The rules, in the order in which they decide."""

    def __init__(self, rules: Sequence[FamilyRule]) -> None:
        self._rules = tuple(rule for rule in rules if LINE not in rule.types)
        self._line_rules = tuple(rule for rule in rules if LINE in rule.types)
        self._compiled: dict[str, regex.Pattern[str]] = {}

    def of_error(self, kind: str | None, message: str) -> tuple[str, bool]:
        """The family of an exception, "other" where no rule knows it, and whether its message said so."""
        name = (kind or "").split(".")[-1]
        text = f"{kind or ''}: {message}"[:_LONGEST]
        for rule in self._rules:
            if (not rule.types or name in rule.types) and self._matches(rule, text):
                return rule.family, bool(rule.pattern)
        return OTHER, False

    def may_be(self, begun: str) -> bool:
        """True where a message that was cut short may go on as one that a rule's pattern knows.

        A pattern that would take whatever comes next (``found.{0,60}nan``) knows nothing of it.
        """
        return any(
            rule.pattern
            and self._search(rule, begun, begins=True)
            and not self._search(rule, f"{begun}{_NO_TEXT}", begins=True)
            for rule in self._rules
        )

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
        return any(literal in text for literal in rule.literals) and self._search(rule, text)

    def _search(self, rule: FamilyRule, text: str, *, begins: bool = False) -> bool:
        """Whether the pattern stands in the text; with ``begins``, whether the whole text begins it."""
        import regex

        pattern = self._compiled.get(rule.pattern)
        if pattern is None:
            pattern = self._compiled[rule.pattern] = regex.compile(rule.pattern)
        try:
            if begins:
                return pattern.match(text, timeout=_TIMEOUT, partial=True) is not None
            return pattern.search(text, timeout=_TIMEOUT) is not None
        except TimeoutError:
            return False
