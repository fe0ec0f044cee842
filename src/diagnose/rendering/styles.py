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
    """Adds styles and links to text, or none of them."""

    def __init__(self, color: bool, links: bool = False) -> None:
        self.color = color
        self.links = links

    def __call__(self, text: str, *styles: str) -> str:
        """The text in styles, which end with it."""
        if not self.color or not text:
            return text
        return "".join(_CODES[style] for style in styles) + text + _RESET

    def link(self, text: str, address: str) -> str:
        """The text as a link (OSC 8) to an address of the case base, or to a file that is there."""
        if not self.links or not text:
            return text
        if not address.startswith("https://"):
            from pathlib import Path

            path = Path(address)
            if not path.is_absolute() or not path.is_file():
                return text
            address = path.as_uri()  # which escapes all that is no plain character
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"

    def changed(self, line: str) -> str:
        """A line of an edit: one that goes (``- ``), comes (``+ ``) or stays."""
        style = {"-": "red", "+": "green"}.get(line[:1])
        return self(line, style) if style else line
