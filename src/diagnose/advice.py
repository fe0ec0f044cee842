"""What to do about a failure that is not about placement: the sentences of kb/advice.toml that fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import AdviceRule, Report
from diagnose.placeholders import always, fill

_LONGEST = 6000
_SECONDS = 0.05
#: A name, file name or number; a shell and Markdown take it for nothing else.
_PLAIN = r"(?a)[A-Za-z0-9_][\w.+-]{0,60}"


def advise(report: Report, rules: Sequence[AdviceRule]) -> tuple[str, ...]:
    """Three sentences: what to look at, a command that shows it, what usually fixes it.

    Args:
        report: what was parsed; its error is of any family but device placement.
        rules: kb/advice.toml; the first of the family whose pattern and placeholders fit is given.

    Empty where no rule is of the error's family.
    """
    error = report.error
    if error is None:
        return ()
    said = " ".join(f"{error.type}: {error.message}"[:_LONGEST].split())
    known = always(report)
    for rule in rules:
        if rule.family != (error.family or "other"):
            continue
        named = _named(rule.pattern, said)
        filled = None if named is None else [fill(text, known | named) for text in rule.sentences]
        if filled is not None and None not in filled:
            return tuple(text for text in filled if text is not None)
    return ()


def _named(pattern: str, said: str) -> dict[str, str] | None:
    """What the pattern's groups name, as far as it reads as plain names; None where it does not fit."""
    if not pattern:
        return {}
    import regex

    try:
        match = regex.search(pattern, said, timeout=_SECONDS)
    except TimeoutError:
        return None
    if match is None:
        return None
    return {k: v for k, v in match.groupdict().items() if v and re.fullmatch(_PLAIN, v)}
