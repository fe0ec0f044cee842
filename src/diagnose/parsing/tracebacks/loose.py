"""Frames retold by hand: no quotes, no file, no number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.parsing.tracebacks.source import indentation, is_annotation

_PLACE = re.compile(
    r"^\s*(?:File )?[\"'`]?(?:(?P<file>[^\s\"',`][^\"',`]*\.pyx?)[\"'`]?,? )?line (?P<line>\d+),? in "
    r"(?P<function>[\w.<>]+)\s*$"
)
_FUNCTION = re.compile(r"^\s*in (?P<function>[A-Za-z_][\w.]*)\s*$")


def frame(lines: Sequence[Peeled], index: int, *, within: bool) -> tuple[Frame, int] | None:
    """The frame that a line begins. ``within``: a traceback is open, so a bare "in f" counts."""
    text = lines[index].text
    if " in " not in text and not text.lstrip().startswith("in "):
        return None
    match = _PLACE.match(text)
    if match is None and within:
        match = _FUNCTION.match(text)
    if match is None:
        return None
    groups = match.groupdict()
    line = groups.get("line")
    code, end = _source(lines, index)
    found = Frame(
        file=groups.get("file") or "",
        line=int(line[:9]) if line else None,
        function=match["function"],
        code=code,
        at=lines[index].number,
    )
    return found, end


def _source(lines: Sequence[Peeled], index: int) -> tuple[str | None, int]:
    after = index + 1
    code: str | None = None
    if after < len(lines):
        text = lines[after].text
        if text.strip() and indentation(text) > indentation(lines[index].text):
            if not exceptions.is_structure(text) and _PLACE.match(text) is None:
                if 'File "' not in text and not is_annotation(text):
                    code = text.strip()
                    after += 1
    while after < len(lines) and lines[after].text.strip() and is_annotation(lines[after].text):
        after += 1
    return code, after
