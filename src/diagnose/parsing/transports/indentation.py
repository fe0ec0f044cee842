"""Spacing that a paste gained: a blank line after each line, or pytest's report moved to the right."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_FEWEST = 8
_SHORTEST_STAMP = 8
_NUMBER = lazy(r"\d+")
_PYTEST_ERROR = lazy(r"^(?P<indent>\s+)E {3,60}[\w.]+(?:Error|Exception)\b")


def single_spaced(lines: Sequence[Peeled]) -> Sequence[Peeled]:
    """The lines without the blank one after each, or the one before each that tells the time, where every
    line has one."""
    if len(lines) < 2 * _FEWEST:
        return lines
    if not lines[1].text.strip():
        between = lines[1::2]
        return lines if any(line.text.strip() for line in between) else lines[::2]
    if not (lines[0].text[:1].isdigit() and lines[2].text[:1].isdigit()):
        return lines
    whole = lines[: len(lines) // 2 * 2]
    stamps = {_NUMBER.sub("#", line.text) for line in whole[::2]}
    return whole[1::2] if len(stamps) == 1 and len(stamps.pop()) > _SHORTEST_STAMP else lines


def dedent(lines: Sequence[Peeled]) -> Sequence[Peeled]:
    """The lines with pytest's errors, whose column tells, moved back to the left; all else of the same
    block with them."""
    match = next(filter(None, (_PYTEST_ERROR.match(line.text) for line in lines)), None)
    if match is None:
        return lines
    indent = match["indent"]
    return [
        line._replace(text=line.text[len(indent) :]) if line.text.startswith(indent) else line
        for line in lines
    ]


LAYERS = (
    Layer(
        "indentation",
        single_spaced,
        "input",
        10,
        "the blank lines that a paste gained part what all others put together",
    ),
    Layer(
        "indentation",
        dedent,
        "process",
        50,
        "a report is moved as a whole, with its fences and trees; boxes stand in columns",
    ),
)
