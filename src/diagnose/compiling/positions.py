"""Where the keys of a TOML document stand, which no TOML reader tells.

Only asked for where a file holds a mistake, so that reading a whole kb/ costs nothing more.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from diagnose._toml import loads

#: The way to a value: keys of tables, positions in arrays (from 0).
Way = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[\s]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_PLAIN = re.compile(r"[^\s,\]}#]+(?: \d\d:[^\s,\]}#]+)?")


def positions(text: str) -> dict[Way, int]:
    """The 1-based line of every table, key and array element of a document that `loads` takes."""
    return _Scan(text.replace("\r\n", "\n")).document()


def line_of(found: dict[Way, int], path: Way) -> int:
    """The line of ``path``, or of what holds it: a missing key has the line of its table."""
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 1)


def key_of(document: Any, path: Way) -> str:
    """``fixes[0].kind`` for people; an entry of a list that has an id or a name is called by it."""
    key, value = "", document
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(part, int):
            named = value.get("id", value.get("name")) if isinstance(value, dict) else None
            key += f"[{named if isinstance(named, str) else part}]"
        else:
            key += f".{part}" if key else part
    return key or "-"


class _Scan:
    """One pass over a document: ``at`` is the place reached, ``found`` the lines of what was passed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Way, int] = {}
        self.counts: dict[Way, int] = {}
        self.ends = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> dict[Way, int]:
        table: Way = ()
        while self.skip():
            start = self.at
            if self.take("[["):
                *outer, last = self.keys()
                array = (*self.inside(outer), last)
                table = (*array, self.counts.setdefault(array, 0))
                self.counts[array] += 1
            elif self.take("["):
                table = self.inside(self.keys())
            else:
                self.pair(table)
                continue
            for end in range(1, len(table) + 1):
                self.found.setdefault(table[:end], self.line(start))
            self.skip()
            self.at = self.text.index("]", self.at) + 1
            self.take("]")
        return self.found

    def skip(self) -> bool:
        """Passes blanks, lines' ends and comments; False at the end of the text."""
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        return self.at < len(self.text)

    def take(self, mark: str) -> bool:
        here = self.text.startswith(mark, self.at)
        self.at += len(mark) if here else 0
        return here

    def line(self, at: int) -> int:
        return bisect_right(self.ends, at - 1) + 1

    def keys(self) -> list[str]:
        """A dotted key."""
        keys: list[str] = []
        self.skip()
        while match := _KEY.match(self.text, self.at):
            word = match[0]
            keys.append(loads(f"key = {word}")["key"] if word[0] in "\"'" else word)
            self.at = match.end()
            dot = _DOT.match(self.text, self.at)
            if dot is None:
                break
            self.at = dot.end()
        return keys

    def inside(self, keys: list[str]) -> Way:
        """The path of a table's header: an array of tables on the way stands for its last table."""
        path: Way = ()
        for key in keys:
            path = (*path, key)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        return path

    def pair(self, table: Way) -> None:
        """``key = value``; a dotted key makes its tables."""
        line = self.line(self.at)
        path = table
        for key in self.keys():
            path = (*path, key)
            self.found.setdefault(path, line)
        self.skip()
        self.at += 1  # "="
        self.value(path)

    def value(self, path: Way) -> None:
        self.skip()
        self.found.setdefault(path, self.line(self.at))
        if self.take("["):
            self.array(path)
        elif self.take("{"):
            while self.skip() and not self.take("}"):
                self.pair(path)
                self.skip()
                self.take(",")
        elif match := _STRING.match(self.text, self.at) or _PLAIN.match(self.text, self.at):
            self.at = match.end()

    def array(self, path: Way) -> None:
        position = 0
        while self.skip() and not self.take("]"):
            self.value((*path, position))
            position += 1
            self.skip()
            self.take(",")
