"""What a message says about devices where no listed wording knows it: the forms of kb/grammar.toml.

A message is cut into words, each of which is of one kind (`Grammar.words`) or a plain word. The kinds, a
letter for each word, are what the forms are searched in: a form is a short pattern over letters, whose
gaps are bounded, so that no text takes it long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from diagnose.model import DEVICE, END, NAME, Form, Grammar, Mismatch

#: So much of a message is read.
LONGEST = 2000
_MOST_WORDS = 240
_QUOTES = str.maketrans(dict.fromkeys('"`´‘’“”', "'"))
#: A device as torch's own text for an object of it.
_REPR = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")


_KEPT = (DEVICE, NAME)
_ARGUMENT = "argument"


class _Word(NamedTuple):
    kind: str
    text: str


class Reader:
    """A grammar, ready for use."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def read(self, message: str) -> Mismatch | None:
        """What the first form that fits says, None where none does."""
        text = _plain_text(message)
        folded = text.casefold()
        if not any(mark in folded for mark in self._grammar.marks):
            return None
        words = _cut(self._grammar.words, text)
        kinds = "".join(word.kind for word in words)
        for form in self._grammar.forms:
            for pattern in form.patterns:
                for match in _compiled(pattern).finditer(kinds):
                    if (said := _said(form, match, words)) is not None:
                        return said
        return None


def forms_of(sentence: str, notions: Grammar) -> list[Form]:
    """What a sentence asserts: the forms that stand anywhere in it."""
    kinds = "".join(word.kind for word in _cut(notions.words, _plain_text(sentence)))
    return [
        form
        for form in notions.forms
        if any(_compiled(pattern).search(kinds) for pattern in form.patterns)
    ]


def _plain_text(text: str) -> str:
    return " ".join(text[:LONGEST].split()).translate(_QUOTES)


def _said(form: Form, match: re.Match[str], words: Sequence[_Word]) -> Mismatch | None:
    """What a form says; None where the devices of two roles are one and the same."""
    at = {role: match.start(role) for role in match.re.groupindex if match.start(role) >= 0}
    told = {role: words[place].text for role, place in at.items()}
    devices = [text.casefold() for role, text in told.items() if role != _ARGUMENT]
    if len(set(devices)) < len(devices):
        return None
    before = words[at[_ARGUMENT] - 1] if at.get(_ARGUMENT) else None
    return Mismatch(
        devices=tuple(_devices(words, *match.span())),
        op=None,
        argument=told.get(_ARGUMENT) if before is None or before.kind != NAME else None,
        wording=f"grammar:{form.id}",
        expected=told.get("expected"),
        found=told.get("found"),
        says=tuple(form.says),
        formed=True,
    )


def _devices(words: Sequence[_Word], start: int, end: int) -> Iterator[str]:
    """The devices of the sentence that a form stands in and of the next one: what follows is advice."""
    ends = 0
    for at, word in enumerate(words[start:], start):
        ends += at >= end and word.kind == END
        if ends > 1:
            break
        if word.kind == DEVICE:
            yield word.text


_compiled = lru_cache(maxsize=256)(re.compile)


def _cut(pattern: str, text: str) -> list[_Word]:
    """The words of a text with their kinds."""
    return [
        _word(match.lastgroup or "", match[0])
        for match in islice(_compiled(pattern).finditer(text), _MOST_WORDS)
    ]


def _word(kind: str, text: str) -> _Word:
    return _Word(kind, _plain(text) if kind in _KEPT else "")


def _plain(text: str) -> str:
    """A device or an operand without quotes; ``cuda:0`` for the text of torch's object."""
    found = _REPR.search(text)
    if found is None:
        return text.strip("'")
    return found[1] + (f":{found[2]}" if found[2] else "")
