"""How other interpreters and launchers print the traceback that this one printed."""

from __future__ import annotations

import ast
import re

FORMS = ("3.11", "3.11", "3.10", "3.13", "3.10", "ranked", "logged")
_CARETS = re.compile(r"^(\s*)[~^]+\s*$")


def formed(text: str, form: str) -> str:
    """A traceback of Python 3.11 in another form."""
    if form == "3.10":
        return _without_carets(text)
    if form == "3.13":
        return _anchored(text)
    if form == "ranked":
        return "".join(
            row if row.startswith("[rank") else f"[rank0]: {row}"
            for row in text.splitlines(keepends=True)
        )
    if form == "logged":
        return "".join(
            f"2026-03-01 10:12:07,{100 + number % 900} ERROR worker | {row}"
            for number, row in enumerate(_without_carets(text).splitlines(keepends=True))
        )
    return text


def _without_carets(text: str) -> str:
    """As Python before 3.11 prints it."""
    rows = text.splitlines(keepends=True)
    return "".join(row for row in rows if not _CARETS.match(row.rstrip("\n")) or not row.strip())


def _anchored(text: str) -> str:
    """As Python 3.13 prints it: what is called is underlined with tildes, also on whole lines."""
    rows = text.split("\n")
    made: list[str] = []
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else ""
        if _CARETS.match(row) and "^" in row and "~" not in row:
            start, end = len(row) - len(row.lstrip()), len(row.rstrip())
            row = " " * start + _marks(above[start:end])
        made.append(row)
        head = re.match(r"\s*File \".*\", line \d+, in ", above)
        below = rows[number + 1] if number + 1 < len(rows) else ""
        if head and not _CARETS.match(below) and row.strip():
            start = len(row) - len(row.lstrip())
            marks = _marks(row.strip())
            if "~" in marks:
                made.append(" " * start + marks)
    return "\n".join(made)


def _marks(code: str) -> str:
    """The underline of an expression: tildes, and carets below the arguments of a call."""
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except SyntaxError:
        return "^" * len(code)
    if isinstance(tree, ast.Call) and tree.func.end_col_offset is not None:
        called = tree.func.end_col_offset
        return "~" * called + "^" * (len(code) - called)
    return "^" * len(code)
