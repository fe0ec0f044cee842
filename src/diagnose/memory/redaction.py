"""Takes out of a text what nobody else may read, by kb/redaction.toml, and says what that was."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import regex

from diagnose.model import RedactionRule

_T = TypeVar("_T")


class Redacted(NamedTuple):
    """A text without secrets, and how many different ones of each kind it held."""

    text: str
    removed: Mapping[str, int]


def redactor(
    rules: Collection[RedactionRule], settings: Collection[str] | None = None
) -> Callable[[str], Redacted]:
    """A function that redacts a text.

    Args:
        rules: of the case base.
        settings: those that are asked for (``hosts``); by default those that $DIAGNOSE_REDACT names.
    """
    if settings is None:
        settings = os.environ.get("DIAGNOSE_REDACT", "").split(",")
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


def redacted(value: _T, redact: Callable[[str], Redacted]) -> tuple[_T, Mapping[str, int]]:
    """An answer, or anything made of named tuples, with each text redacted, and what went, by kind."""
    known: dict[str, str] = {}

    def clean(text: str) -> str:
        if text not in known:
            known[text] = redact(text).text
        return known[text]

    cleaned: _T = _each(value, clean)
    return cleaned, redact("\n".join(known)).removed


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each(one, change) for key, one in value.items()}
    if isinstance(value, tuple):
        changed = [_each(one, change) for one in value]
        return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    return value


def said(removed: Mapping[str, int], kinds: Mapping[str, tuple[str, str]]) -> str:
    """What was taken out: ``2 home folders, 1 token``.

    Args:
        removed: how many of each kind.
        kinds: what one, and what several of each kind are called.
    """
    return ", ".join(f"{count} {kinds[kind][count != 1]}" for kind, count in removed.items())


def entropy(text: str) -> float:
    """Bits a character, by how often each occurs in the text."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
