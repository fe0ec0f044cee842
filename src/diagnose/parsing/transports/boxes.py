"""rich's boxes: borders of any width, paths and code that wrap inside them, panels of locals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from diagnose.parsing.lines import Peeled

_BORDER = re.compile(r"^\s*[╭╰┌└┏┗╔╚+][─━═-]{3,}.*?[╮╯┐┘┓┛╗╝+]?\s*$")
_TITLE = re.compile(r"Traceback \(most recent call last\)")
_SIDE = re.compile(r"^\s*[│┃║](?P<inside>.*?)[│┃║]?\s*$")
_LOCALS = re.compile(r"^\s?[╭╰│┌└|](?:[─ -]|$)")
_PATH_END = re.compile(r":\d+(?: in .+)?$|^in \S+:\d+$")
_NUMBER_END = re.compile(r"^(?!in ).*:\d+$")
_WHOLE = re.compile(r":\d+ in .+$|^in \S+:\d+$")
_SOURCE = re.compile(r"^\s*(?:❱|>)?\s*\d+(?:\s|$)")
_PATH_START = re.compile(r"^(?:/|~|\.{1,2}[/\\]|[A-Za-z]:[\\/]|<|\w[\w.-]*[/\\]|in )\S")


def unbox(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Lines with the boxes around tracebacks taken off: the title, then "path:line in function" and the
    numbered source as the box holds them."""
    path: Peeled | None = None
    for line in lines:
        if line.text.isascii() and "+-" not in line.text:
            if path is not None:
                yield path
                path = None
            yield line
            continue
        if _BORDER.match(line.text):
            if path is not None:
                yield path
                path = None
            if title := _TITLE.search(line.text):
                yield line._replace(text=title.group())
            elif line.text.lstrip()[:1] == "+":
                yield line
            continue
        side = _SIDE.match(line.text)
        if side is None:
            if path is not None:
                yield path
                path = None
            yield line
            continue
        inside = side["inside"]
        if _LOCALS.match(inside):
            continue  # a panel of locals within the box
        text = inside[1:].rstrip() if inside.startswith(" ") else inside.rstrip()
        if path is not None and _NUMBER_END.search(path.text) and not text.lstrip().startswith("in "):
            yield path
            path = None
        if path is not None:
            joined = _join(path.text, text.strip())
            if _PATH_END.search(joined):
                yield path._replace(text=joined)
                path = None
                continue
            if text.strip() and not _SOURCE.match(text) and len(joined) < 600:
                path = path._replace(text=joined)
                continue
            yield path
            path = None
        if _PATH_START.match(text) and not _SOURCE.match(text) and not _WHOLE.search(text):
            path = line._replace(text=text)
            continue
        yield line._replace(text=text)
    if path is not None:
        yield path


def _join(head: str, tail: str) -> str:
    """A wrapped path put together: "in f" was wrapped at a blank, all else within the path."""
    return f"{head} {tail}" if tail.startswith("in ") or head.endswith(" in") else head + tail
