"""What a repair says (kb/repairs.toml), in one language."""

from __future__ import annotations

from diagnose.casebase.store import load
from diagnose.model import Lang
from diagnose.repair.model import Sentence


def say(lang: Lang, name: str, /, **values: object) -> str:
    """A sentence or a word of a repair, with what it is about filled in."""
    return told(lang, Sentence(name, values))


def told(lang: Lang, sentence: Sentence) -> str:
    """A sentence in a language, and those that it is about as well."""
    values = {
        name: told(lang, one) if isinstance(one, Sentence) else one
        for name, one in sentence.values.items()
    }
    return load(lang=lang).repairs()[sentence.id].format(**values)
