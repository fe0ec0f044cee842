"""Names and source lines as one line that steers no terminal and can be encoded."""

from __future__ import annotations

from diagnose.checking.model import Place


def shown(text: str) -> str:
    """The text with a tab as a blank and every other character that is not printable as its escape."""
    return "".join(
        c if c.isprintable() else " " if c == "\t" else c.encode("unicode_escape").decode()
        for c in text
    )


def where(place: Place) -> str:
    """``file:line:column``, or ``file:cell 3:line:column``."""
    cell = f"cell {place.cell}:" if place.cell is not None else ""
    return f"{shown(place.file)}:{cell}{place.line}:{place.column}"
