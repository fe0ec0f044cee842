"""Reads and validates kb/advice.toml: what to do about failures that are not about placement."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import regex

from diagnose.casebase import schema
from diagnose.compiling.entry import Entry
from diagnose.compiling.kberror import KbError
from diagnose.placeholders import ALWAYS, placeholders

_LANGS = ("en", "zh")
_SENTENCES = 3
_LONGEST = 400
_CODE = r"`[^`]*`"


def advice(kb: Path, families: Collection[str], problems: list[KbError]) -> list[schema.Base]:
    """A record for each entry, with its sentences in both languages.

    Notes every family that has no entry for whatever its other entries do not know.
    """
    entry = Entry.of_file(kb / "advice.toml", kb, problems)
    rows: list[schema.Base] = []
    general = set()
    for position, one in enumerate(entry.tables("advice", at_least=1)):
        family = one.text("family", one_of=families)
        pattern = one.optional_text("pattern") or ""
        known = ALWAYS | _groups(one, pattern)
        data = {
            "family": family,
            "pattern": pattern,
            "texts": {lang: _sentences(one, lang, known) for lang in _LANGS},
        }
        general |= set() if pattern else {family}
        rows.append(
            schema.RecordRow(kind="advice", position=position, id=one.text("id"), data=data)
        )
        one.done()
    for family in sorted(set(families) - general):
        entry.problem("advice", f"holds no entry without a pattern for the family {family!r}")
    return rows


def _groups(entry: Entry, pattern: str) -> set[str]:
    try:
        return set(regex.compile(pattern).groupindex)
    except regex.error as error:
        entry.problem("pattern", f"is not a regular expression: {error}")
        return set()


def _sentences(entry: Entry, lang: str, known: Collection[str]) -> list[str]:
    texts = entry.strings(lang)
    if len(texts) != _SENTENCES:
        entry.problem(lang, f"must hold {_SENTENCES} sentences")
    for text in texts:
        if len(text) > _LONGEST:
            entry.problem(lang, f"has {len(text)} characters, at most {_LONGEST} are allowed")
        for name in sorted(placeholders(text) - set(known)):
            entry.problem(lang, f"{{{name}}} is not a placeholder that is known here")
        if placeholders(re.sub(_CODE, "", text)):
            entry.problem(lang, "has a placeholder that does not stand in backticks")
    return texts
