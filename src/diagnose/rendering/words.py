"""Text that is safe and fits: control characters taken out, lines wrapped by display width."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from diagnose.model import Edit
from diagnose.paths import place
from diagnose.patterns import lazy

_WORD = lazy(r"[^ ]+ *| +")


def clean(text: str | None) -> str:
    """One line without control characters: text from a log must not steer a terminal."""
    flat = " ".join((text or "").split())
    return "".join(c if c.isprintable() else "�" for c in flat)


def counted(names: Iterable[str]) -> str:
    """The names of classes without their modules, as they first come, with how often each does."""
    seen = Counter(name.rsplit(".", 1)[-1] for name in names)
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in seen.items())


def code(text: str | None) -> str:
    """A source line without control characters; its indentation stays."""
    return "".join(c if c.isprintable() else "�" for c in (text or "").expandtabs(4).rstrip())


def changed(edit: Edit) -> tuple[str, list[str]]:
    """An edit as ``file:line``, empty where the file has no name, and the lines that go (``- ``) and those
    that come (``+ ``).

    No diff that a tool would apply: the indentation may not be known.
    """
    gone = (f"- {line}" for line in edit.before.split("\n"))
    come = (f"+ {line}" for line in edit.after.split("\n"))
    where = code(place(edit.file, edit.line)) if edit.file else ""
    return where, [code(line) for line in (*gone, *come)]


def width(text: str) -> int:
    """Columns that the text takes on a terminal; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, columns: int) -> str:
    """The text, or its beginning where it is wider than so many columns."""
    if width(text[: columns + 1]) <= columns:
        return text
    text = text[:columns]  # no character is narrower than a column
    while text and width(text) > columns - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


def middle(text: str, columns: int) -> str:
    """The text without its middle where it is wider than so many columns: both ends tell most."""
    if width(text) <= columns:
        return text
    left, right = text[: columns // 2], text[-(columns // 2) :]
    while left and right and width(left) + width(right) > columns - 1:
        if width(left) > width(right):
            left = left[:-1]
        else:
            right = right[1:]
    return f"{left}…{right}"


def wrap(text: str, columns: int) -> list[str]:
    """Lines of at most ``columns`` columns, broken at spaces and between wide characters.

    A word that is longer than a line (an address, a path) stays whole on a line of its own.
    """
    lines: list[str] = []
    line, used = "", 0
    for piece in _pieces(text):
        if line and used + width(piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = piece.lstrip()
            used = width(line)
        else:
            line += piece
            used += width(piece)
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str) -> list[str]:
    """The text in pieces that must stay together: words with the space after them, and single wide
    characters, with closing and opening punctuation kept at its character."""
    if text.isascii():
        return _WORD.findall(text)
    pieces: list[str] = []
    for character in text:
        wide = unicodedata.east_asian_width(character) in "WF"
        closing = character in "，。；：、！？）》」』”’"
        if pieces and (closing or pieces[-1][-1] in "（《「『“‘"):
            pieces[-1] += character
        elif wide or not pieces:
            pieces.append(character)
        elif pieces[-1].endswith(" ") or unicodedata.east_asian_width(pieces[-1][-1]) in "WF":
            if character == " ":
                pieces[-1] += character
            else:
                pieces.append(character)
        else:
            pieces[-1] += character
    return pieces


def percent(confidence: float) -> str:
    """A confidence for people: nothing is certain, and nothing that is listed is impossible."""
    return f"{min(99, max(1, round(confidence * 100)))}%"
