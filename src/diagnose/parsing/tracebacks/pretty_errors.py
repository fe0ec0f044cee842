"""Frames as pretty_errors prints them: "file line function", or path and place on two lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled

_SHORT = re.compile(r"^(?P<file>[^\s\"']+\.pyx?) (?P<line>\d+) (?P<function><\w+>|[\w.]+)$")
_PATH = re.compile(r"^(?P<file>(?:[A-Za-z]:)?[^\s:\"'][^:\"']*\.pyx?)$")
_PLACE = re.compile(r"^(?P<line>\d+) (?P<function><\w+>|[\w.]+)$")
_ERROR = re.compile(r"^[\w.]+:$")
_LINK = re.compile(r"^\"[^\"]+\", line \d+$")


def frame(lines: Sequence[Peeled], index: int) -> tuple[Frame, int] | None:
    """The frame that a line begins, and the index after its source; None where none begins."""
    text = lines[index].text.strip()
    if ".py" not in text:
        return None
    after = index + 1
    place = match = _SHORT.match(text)
    if match is None:
        match = _PATH.match(text)
        place = _PLACE.match(_text(lines, after)) if match else None
        after += 1
    if match is None or place is None or (index > 0 and _is_prose(_text(lines, index - 1))):
        return None
    if _LINK.match(_text(lines, after)):
        after += 1
    code = None
    after += not _text(lines, after)  # a blank line that was asked for, or lines_before
    while (
        (shown := _text(lines, after)) and _SHORT.match(shown) is None and not _ERROR.match(shown)
    ):
        code = shown  # the failing line is the last of those shown
        after += 1
    found = Frame(
        file=match["file"],
        line=int(place["line"][:9]),
        function=place["function"],
        code=code,
        at=lines[index].number,
    )
    return found, after


def _text(lines: Sequence[Peeled], index: int) -> str:
    return lines[index].text.strip() if index < len(lines) else ""


def _is_prose(text: str) -> bool:
    """Frames stand apart: after a blank line or the rule that begins the traceback."""
    return bool(text) and not re.match(r"^(\S)\1{9,}$", text)
