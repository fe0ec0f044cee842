"""The styles of a terminal."""

from __future__ import annotations

_CODES = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "cyan": "\x1b[36m",
    "yellow": "\x1b[33m",
}
_RESET = "\x1b[0m"


class Paint:
    """Adds styles to text, or none of them."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *styles: str) -> str:
        """The text in styles, which end with it."""
        if not self.color or not text:
            return text
        return "".join(_CODES[style] for style in styles) + text + _RESET

    def changed(self, line: str) -> str:
        """A line of an edit: one that goes (``- ``), comes (``+ ``) or stays."""
        style = {"-": "red", "+": "green"}.get(line[:1])
        return self(line, style) if style else line
