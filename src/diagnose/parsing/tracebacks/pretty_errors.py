"""Frames as pretty_errors prints them: "file line function" or "line function file", or path and place
on two lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks.form import Form, of_frames
from diagnose.patterns import lazy

_FUNCTION = r"(?P<function><\w+>|[\w.]+)"
_SHORT = lazy(rf"^(?P<file>[^\s\"']+\.pyx?|<\w+>) (?P<line>\d+) {_FUNCTION}$")
_TURNED = lazy(rf"^(?P<line>\d+) {_FUNCTION} (?P<file>[^\s\"']+\.pyx?|<\w+>)$")
_PATH = lazy(r"^(?P<file>(?:[A-Za-z]:)?[^\s:\"'][^:\"']*\.pyx?)$")
_PLACE = lazy(rf"^(?P<line>\d+) {_FUNCTION}$")
_ERROR = lazy(r"^[\w.]+:$")
_LINK = lazy(r"^\"[^\"]+\", line \d+$")
_RULE = lazy(r"^(\S)\1{2,}[\d.]*$")
_LONG_RULE = lazy(r"^(\S)\1{20,}[\d.]*$")
_FARTHEST_RULE = 2000


def frame(lines: Sequence[Peeled], index: int) -> tuple[Frame, int] | None:
    """The frame that a line begins, and the index after its source; None where none begins."""
    text = lines[index].text.strip()
    if ".py" not in text and not (text[:1] == "<" and _SHORT.match(text)):
        return None
    after = index + 1
    glued = ""
    place = match = _header(text)
    if match is None and text[-3:] != ".py" and (width := _width(lines, index, text)):
        text, glued = text[:width].rstrip(), text[width:].strip()
        place = match = _header(text)
    if match is None:
        match = _PATH.match(text)
        place = _PLACE.match(_text(lines, after)) if match else None
        after += 1
    if match is None or place is None or (index > 0 and _is_prose(_text(lines, index - 1))):
        return None
    if _LINK.match(_text(lines, after)):
        after += 1
    code: str | None = glued or None
    marked = False
    after += not _text(lines, after) and not glued  # a blank line that was asked for
    while (
        (shown := _text(lines, after))
        and _header(shown) is None
        and _ERROR.match(shown) is None
        and _RULE.match(shown) is None
    ):
        if not marked:
            marked = shown.startswith("> ")
            code = shown.removeprefix("> ")  # else the failing line is the last of those shown
        after += 1
    found = Frame(
        file=match["file"],
        line=int(place["line"][:9]),
        function=place["function"],
        code=code,
        at=lines[index].number,
    )
    return found, after


def _header(text: str) -> re.Match[str] | None:
    return _SHORT.match(text) or _TURNED.match(text)


def _width(lines: Sequence[Peeled], index: int, text: str) -> int:
    """The width that a header fills when the source follows it without a line feed: the rule's that
    begins the traceback; 0 where there is none so short."""
    if not text[:1].isdigit() and not text.startswith(("...", "/", "~")):
        return 0
    for above in range(index - 1, max(-1, index - _FARTHEST_RULE), -1):
        rule = lines[above].text.strip()
        if _LONG_RULE.match(rule):
            return len(rule) if len(rule) < len(text) else 0
    return 0


def _text(lines: Sequence[Peeled], index: int) -> str:
    return lines[index].text.strip() if index < len(lines) else ""


def _is_prose(text: str) -> bool:
    """Frames stand apart: after a blank line or a rule."""
    return bool(text) and _RULE.match(text) is None


FORM = Form("pretty_errors", of_frames(frame), probes=(".py",))
