"""Takes out of a text what nobody else may read, by kb/redaction.toml, and says what that was."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple

import regex

from diagnose.model import RedactionRule


class Redacted(NamedTuple):
    """A text without secrets, and how many different ones of each kind it held."""

    text: str
    removed: Mapping[str, int]


def redactor(
    rules: Collection[RedactionRule], settings: Collection[str] = ()
) -> Callable[[str], Redacted]:
    """A function that redacts a text.

    Args:
        rules: of the case base.
        settings: those that are asked for (``hosts``).
    """
    wanted = [rule for rule in rules if rule.setting is None or rule.setting in settings]
    return partial(_redact, tuple((rule, regex.compile(rule.pattern)) for rule in wanted))


def _redact(rules: tuple[tuple[RedactionRule, regex.Pattern[str]], ...], text: str) -> Redacted:
    removed: dict[str, set[str]] = {}
    lowered = text.lower()
    for rule, pattern in rules:
        if not any(word in lowered for word in rule.keywords):
            continue

        def put(found: regex.Match[str], rule: RedactionRule = rule) -> str:
            secret = found["secret"]
            if not secret or secret == rule.put or entropy(secret) < rule.entropy:
                return found[0]
            removed.setdefault(rule.kind, set()).add(secret)
            begin, end = (at - found.start() for at in found.span("secret"))
            return f"{found[0][:begin]}{rule.put}{found[0][end:]}"

        text = pattern.sub(put, text)
    return Redacted(text, {kind: len(secrets) for kind, secrets in removed.items()})


def entropy(text: str) -> float:
    """Bits a character, by how often each occurs in the text."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
