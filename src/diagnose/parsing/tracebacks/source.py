"""The source lines that printed forms show under a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.patterns import lazy

_ARROW = lazy(r"^\s*(?:[-—–─]+[>▶]|❱|>|→)\s*(?P<line>\d+)(?:\s*[│|](?=\s|$))?(?: (?P<code>.*))?$")
_NUMBERED = lazy(r"^\s*(?P<line>\d+)(?:\s*[│|](?=\s|$))?(?:\s(?P<code>.*))?$")
_GUIDES = lazy(r"^[│ ]+")
_VALUES = lazy(r"^\s*(?:[│└├┆┌┘]|\.\.\.<\d+ lines?>\.\.\.)")
_LONGEST_LISTING = 200


class Source(NamedTuple):
    """The failing line, the lines around it, its number where the listing tells, and where it ends."""

    code: str | None
    context: tuple[tuple[int, str], ...]
    line: int | None
    end: int


def listing(lines: Sequence[Peeled], start: int) -> Source | None:
    """A numbered listing with an arrow at the failing line (IPython, rich, stackprinter)."""
    context: list[tuple[int, str]] = []
    code: str | None = None
    number: int | None = None
    index = start
    if index < len(lines) and not lines[index].text.strip():
        index += 1  # rich leaves a blank line under the path
    first = index
    while index < len(lines) and index - first < _LONGEST_LISTING:
        text = lines[index].text
        if arrow := _ARROW.match(text):
            number = int(arrow["line"][:9])
            code = _GUIDES.sub("", arrow["code"] or "").strip() or None
            context.append((number, code or ""))
        elif numbered := _NUMBERED.match(text):
            context.append((int(numbered["line"][:9]), _unguide(numbered["code"] or "")))
        elif code is not None and text.strip() and text.startswith(("     ", "\t")):
            if exceptions.match(text, after_frame=False) is not None:
                break
            # else a wrapped line, or a value under the failing line
        else:
            break
        index += 1
    if not context or (number is None and len(context) < 2):
        return None
    return Source(code, tuple(context), number, index)


def _unguide(code: str) -> str:
    guides = _GUIDES.match(code)
    return " " * guides.end() + code[guides.end() :] if guides else code


def is_underline(text: str) -> bool:
    """True for the carets and tildes under a source line, with TorchScript's arrow behind them."""
    marks = "".join(text.strip().removesuffix("<--- HERE").split())
    return marks != "" and not marks.strip("~^")


def is_annotation(text: str) -> bool:
    """True for what follows a source line without being one: carets, values, a note of left-out lines."""
    return is_underline(text) or _VALUES.match(text) is not None


def indentation(text: str) -> int:
    """How far a line is indented; a tab counts as eight."""
    expanded = text.expandtabs()
    return len(expanded) - len(expanded.lstrip())
