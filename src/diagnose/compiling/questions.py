"""Reads and validates kb/questions.toml: what to ask where no cause is sure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from diagnose.casebase import schema
from diagnose.compiling.entry import Entry
from diagnose.compiling.kberror import KbError
from diagnose.placeholders import ALWAYS, PLACEHOLDERS, fill, placeholders

_LANGS = ("en", "zh")
_CONDITIONS = ("all", "any", "none")
#: So that a line fits into 80 columns where it is shown.
_WIDEST = 70
#: Likelihoods of a cause's answers may differ from 1 in sum by what rounding in a table makes.
_ROUNDING = 0.02


def questions(
    kb: Path, causes: Collection[str], facts: Collection[str], problems: list[KbError]
) -> list[schema.Base]:
    """A record for each question, with its texts in both languages and all likelihoods worked out."""
    entry = Entry.of_file(kb / "questions.toml", kb, problems)
    return [
        schema.RecordRow(
            kind="question",
            position=position,
            id=key,
            data=_question(entry.table(key), causes, facts),
        )
        for position, key in enumerate(entry.data)
    ]


def _question(table: Entry, causes: Collection[str], facts: Collection[str]) -> dict[str, Any]:
    answers = table.tables("answers", at_least=2)
    data: dict[str, Any] = {
        key: table.strings(key, one_of=facts) for key in _CONDITIONS if key in table.data
    }
    data["code"] = _code(table)
    data["command"] = line_with_placeholders(table, "command")
    data["texts"] = {lang: _texts(table.table(lang), answers, lang) for lang in _LANGS}
    data["likelihood"], data["others"] = _likelihoods(table, answers, causes)
    for answer in answers:
        answer.done()
    table.done()
    return data


def _texts(texts: Entry, answers: Sequence[Entry], lang: str) -> dict[str, Any]:
    ask, general = texts.text("ask", limit=200), texts.optional_text("general", limit=200)
    replies = [answer.text(lang, limit=120) for answer in answers]
    known_placeholders(texts, "ask", ask)
    for answer, reply in zip(answers, replies, strict=True):
        known_placeholders(answer, lang, reply, ALWAYS)
    known_placeholders(texts, "general", general, ALWAYS)
    if placeholders(ask) - ALWAYS and general is None:
        texts.problem("general", "is missing: a placeholder of ask may have no value")
    texts.done()
    return {"ask": ask, "general": general, "answers": replies}


def known_placeholders(
    table: Entry, key: str, text: str | None, known: Collection[str] = PLACEHOLDERS
) -> None:
    """Notes the placeholders of a text that nothing fills."""
    for name in sorted(placeholders(text or "") - set(known)):
        table.problem(key, f"{{{name}}} is not a placeholder that is known here")


def line_with_placeholders(table: Entry, key: str) -> str | None:
    """Code or a command whose placeholders are known and whose lines are not too long to show."""
    text = table.optional_text(key)
    known_placeholders(table, key, text)
    if any(len(line) > _WIDEST for line in (text or "").splitlines()):
        table.problem(key, f"has a line of more than {_WIDEST} characters")
    return text


def _code(table: Entry) -> str | None:
    """The code, checked to be Python once it is filled."""
    code = line_with_placeholders(table, "code")
    try:
        ast.parse(fill(code or "", dict.fromkeys(PLACEHOLDERS, "name")) or "")
    except SyntaxError as error:
        table.problem("code", f"is not Python: {error.msg}")
    return code


def _likelihoods(
    table: Entry, answers: Sequence[Entry], causes: Collection[str]
) -> tuple[dict[str, list[float]], list[float]]:
    """For each cause that an answer names, and for all others, how likely each answer is."""
    given: list[dict[str, float]] = []
    for answer in answers:
        named = answer.table("causes", optional=True)
        for cause in named.data:
            if cause not in causes:
                named.problem(cause, "is not a known cause")
        given.append({cause: named.number(cause, 0, 1) for cause in named.data})
    likelihood = {
        cause: _shared(table, cause, [row.get(cause) for row in given])
        for cause in sorted({cause for row in given for cause in row})
    }
    if not likelihood:
        table.problem("answers", "name no cause")
    rest = [
        answer.number("others", 0, 1) if "others" in answer.data else None for answer in answers
    ]
    return likelihood, _shared(table, "others", rest)


def _shared(table: Entry, name: str, row: Sequence[float | None]) -> list[float]:
    """The row with what is left of 1 shared out among its gaps."""
    total, gaps = sum(value or 0.0 for value in row), row.count(None)
    if total > 1 + _ROUNDING or (row and not gaps and total < 1 - _ROUNDING):
        table.problem("answers", f"the likelihoods of {name} add up to {total:.2f}")
    share = max(0.0, 1 - total) / (gaps or 1)
    filled = [share if value is None else value for value in row]
    whole = sum(filled) or 1.0
    return [round(value / whole, 4) for value in filled]
