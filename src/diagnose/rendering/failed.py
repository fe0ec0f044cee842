"""The last resort: what is printed where not even the renderer works. It depends on nothing but labels."""

from __future__ import annotations

import json

from diagnose.model import Lang
from diagnose.rendering.labels import LABELS


def render(source: str, form: str, lang: Lang) -> str:
    """That an input could not be answered, in one of the forms: a sentence, in
    ``json`` an object.

    The object has every key of the contract (docs/json.md).
    """
    if form != "json":
        name = LABELS[lang]["standard input"] if source == "-" else ascii(source)
        return LABELS[lang]["failed"].format(source=name) + "\n"
    answer = {
        "schema": 1,
        "quoted": ["$.source"],
        "source": source,
        "verdict": "failed",
        "error": None,
        "mismatch": None,
        "frames": [],
        "libraries": [],
        "culprit": None,
        "strays": [],
        "operands": [],
        "causes": [],
        "ranks": [],
        "fallout": [],
        "nearest": [],
        "questions": [],
        "sources": [],
        "unused_sources": [],
        "incomplete": ["rendering"],
        "advice": [],
        "described": False,
        "seen": None,
    }
    return json.dumps(answer, ensure_ascii=False) + "\n"
