"""rich's boxes: borders of any width, paths and code that wrap inside them, panels of locals, and the
panels around the members of an exception group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_BORDER = lazy(r"^\s*(?:[╭╰┌└┏┗╔╚+][─━═-]{3,}|[╭┌┏╔][─━═]+ Traceback \()")
_BOTTOM = lazy(r"^\s*[╰└┗╚+][─━═-]{3,}[╯┘┛╝+]?\s*$")
_TOP = lazy(r"^\s*[╭┌┏╔][─━═]+ Traceback \(most recent call last\)")
_MOST_FOREIGN = 40
_TITLE = lazy(r"Traceback \(most recent call last\)")
_MEMBER = lazy(r"^\s*[╭┌┏╔+][─━═-]+ Sub-exception #(?P<number>\d+) ")
_SIDES = "│┃║"
_LOST = r"(?:\?|\ufffd{1,3})"
_LOST_TOP = lazy(r"^\s*[?\ufffd]{3,} Traceback \(most recent call last\) [?\ufffd]{3,}\s*$")
_LOST_BOTTOM = lazy(r"^\s*[?\ufffd]{20,}\s*$")
_LOST_SIDE = lazy(rf"^\s*{_LOST}(?= )")
_LOST_ARROW = lazy(rf"^ {_LOST}(?= +\d)")
_LOST_GUIDES = lazy(rf"(?<=\d )(?:{_LOST}(?: {{3}}|$))+")
_ASCII_TOP = lazy(r"^\s*\+-{2,} Traceback \(most recent call last\) -{2,}\+?\s*$")
_ASCII_SIDE = lazy(r"^\s*\|(?P<inside>.*)\|\s*$")
_ASCII_ARROW = lazy(r"^ ?(?:\\u2771|\?)(?= *\d)")
_LOCALS = lazy(r"^\s?[╭╰│┌└|+](?:[─ -]|$)")
_FUNCTION_END = lazy(r":\d+ in .+$|^in \S+:\d+$")
_NUMBER_END = lazy(r"^(?!in ).*:\d+$")
_NUMBER_REST = lazy(r"^\d+ in [\w.<>]+$")
#: A source line that was too wide for the box: its rest begins where the code of numbered lines does.
_NUMBER = lazy(r"^ *(?:[❱>] *)?\d+(?= |$)")
_REST = lazy(r"^ {5,}(?=\S)")
_SOURCE = lazy(r"^\s*(?:❱|>)?\s*\d+(?:\s|$)")
_PATH_START = lazy(r"^(?:/|~|\.{1,2}[/\\]|[A-Za-z]:[\\/]|<|\w[\w.-]*[/\\]|in )\S")
_LONGEST_PATH = 600
_LONGEST_SOURCE = 4000


def unbox(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Lines with the boxes around tracebacks taken off: the title, then "path:line in function" and the
    numbered source as the box holds them."""
    return _join_paths(_join_source(_inside(_whole(_unpanel(_unascii(_recovered(lines)))))))


def _recovered(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Boxes whose lines an encoding could not carry: each character became a question mark."""
    within = False
    for line in lines:
        text = line.text
        if not within and "?" not in text and "\ufffd" not in text:
            yield line
        elif _LOST_TOP.match(text):
            within = True
            yield line._replace(text="╭── Traceback (most recent call last) ──╮")
        elif within and _LOST_BOTTOM.match(text):
            within = False
            yield line._replace(text="╰──────╯")
        elif within and (side := _LOST_SIDE.match(text)):
            inside = text[side.end() :].rstrip().rstrip("?\ufffd")
            inside = _LOST_ARROW.sub(" ❱", inside)
            inside = _LOST_GUIDES.sub(lambda guides: " " * len(guides.group()), inside, count=1)
            yield line._replace(text=f"│{inside}│")
        else:
            within = False
            yield line


def _unascii(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Boxes of terminals that know ASCII only, drawn with rich's own lines."""
    within = False
    for line in lines:
        if not within and "+-" not in line.text:
            yield line
        elif _ASCII_TOP.match(line.text):
            within = True
            yield line
        elif within and (side := _ASCII_SIDE.match(line.text)):
            yield line._replace(text=f"│{side['inside']}│")
        else:
            within = within and not _BOTTOM.match(line.text)
            yield line


def _unpanel(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Lines without the panels around the members of a group; the rule that CPython prints instead."""
    depth = 0
    for line in lines:
        text = line.text
        level = 0
        while level < depth and (inside := _between_sides(text)) is not None:
            text = inside.removeprefix(" ").rstrip()
            level += 1
        if depth and level < depth:
            depth = level if _BOTTOM.match(text) else 0
            if _BOTTOM.match(text):
                continue
        if "Sub-exception #" in text and (member := _MEMBER.match(text)):
            depth += 1
            text = f"+-+---------------- {member['number']} ----------------"
        yield line._replace(text=text) if text is not line.text else line


def _whole(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Lines with those that other threads printed into a box put after it."""
    within = False
    foreign: list[Peeled] = []
    for line in lines:
        text = line.text
        if within and _between_sides(text) is None and not _BOTTOM.match(text):
            foreign.append(line)
            within = len(foreign) <= _MOST_FOREIGN
        else:
            within = (within and not _BOTTOM.match(text)) or _TOP.match(text) is not None
            yield line
        if not within and foreign:
            yield from foreign
            foreign = []
    yield from foreign


def _inside(lines: Iterable[Peeled]) -> Iterator[tuple[Peeled, bool]]:
    """What stands in a box, and whether it did; the titles of boxes as headers of tracebacks."""
    for line in lines:
        if line.text.isascii() and "+-" not in line.text:
            yield line, False
        elif _BORDER.match(line.text):
            if title := _TITLE.search(line.text):
                yield line._replace(text=title.group()), False
            elif line.text.lstrip()[:1] == "+":
                yield line, False
            else:
                yield line._replace(text=""), False
        elif (inside := _between_sides(line.text)) is not None:
            if not _LOCALS.match(inside):  # else a panel of locals within the box
                inside = _ASCII_ARROW.sub("❱", inside)
                yield line._replace(text=inside.removeprefix(" ").rstrip()), True
        else:
            yield line, False


def _join_source(lines: Iterable[tuple[Peeled, bool]]) -> Iterator[tuple[Peeled, bool]]:
    """Lines with the source put together that rich wrapped at words; its numbers stand in one column."""
    held: Peeled | None = None
    column = 0
    for line, boxed in lines:
        number = _NUMBER.match(line.text) if boxed else None
        numbered = number is not None and number.end() == column
        if held is not None and boxed and not numbered and _REST.match(line.text):
            if len(held.text) < _LONGEST_SOURCE:
                held = held._replace(text=f"{held.text} {line.text.strip()}")
            continue
        if held is not None:
            yield held, True
            held = None
        if number is not None:
            held, column = line, number.end()
        else:
            yield line, boxed
    if held is not None:
        yield held, True


def _between_sides(text: str) -> str | None:
    """What stands between the sides of a box; None for a line that none begins."""
    stripped = text.strip()
    if stripped[:1] not in _SIDES or not stripped:
        return None
    return stripped[1:-1] if stripped[-1] in _SIDES and len(stripped) > 1 else stripped[1:]


def _join_paths(lines: Iterable[tuple[Peeled, bool]]) -> Iterator[Peeled]:
    """Lines with the paths that were wrapped in a box put together."""
    path: Peeled | None = None
    for line, boxed in lines:
        text = line.text
        if path is not None and not (boxed and _goes_on(path.text, text)):
            yield path
            path = None
        elif path is not None:
            path = path._replace(text=_join(path.text, text.strip()))
            if _FUNCTION_END.search(path.text):
                yield path
                path = None
            continue
        if (
            boxed
            and _PATH_START.match(text)
            and not _SOURCE.match(text)
            and not _FUNCTION_END.search(text)
        ):
            path = line
        else:
            yield line
    if path is not None:
        yield path


def _goes_on(path: str, text: str) -> bool:
    """True where a line of the box is the rest of a path that was wrapped."""
    rest = text.strip()
    if not rest or len(path) + len(rest) > _LONGEST_PATH:
        return False
    if _NUMBER_END.search(path):
        return rest.startswith("in ") or _NUMBER_REST.match(text) is not None
    return not _SOURCE.match(text) or _NUMBER_REST.match(text) is not None


def _join(head: str, tail: str) -> str:
    """A wrapped path put together: "in f" was wrapped at a blank, all else within the path."""
    return f"{head} {tail}" if tail.startswith("in ") or head.endswith(" in") else head + tail


LAYERS = (
    Layer(
        "boxes",
        unbox,
        "process",
        60,
        "boxes are known by their columns: after trees and indentation",
    ),
)
