"""String literals over several lines, as pprint and source code write a long text: one a line, next to
each other (one string) or with commas between (a list of lines)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.escaped import unescaped
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_PIECE = lazy(
    r"""^\s*[\[{(]*(?:(?P<key>['"])[\w. -]+(?P=key): )?[bru]?(?P<quote>['"])"""
    r"""(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)(?P<seam>[,)\]}]*)\s*$"""
)
_OPENING = "Traceback (most recent call last):"


def join(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """Lines with the tracebacks that stand in literals written out."""
    index = 0
    while index < len(lines):
        text = lines[index].text
        if _OPENING in text and text.rstrip()[-1:] in "'\"," and _goes_on(lines, index):
            said, index = _literal(lines, index)
            yield from said
        else:
            yield lines[index]
            index += 1


def _goes_on(lines: Sequence[Peeled], index: int) -> bool:
    """True for a literal that is not alone."""
    return len(lines) > index + 1 and all(
        _PIECE.match(line.text) for line in lines[index : index + 2]
    )


def _literal(lines: Sequence[Peeled], index: int) -> tuple[list[Peeled], int]:
    """The lines of the text that begins at the index, and the index after its literals."""
    said: list[Peeled] = []
    rest = ""
    while index < len(lines) and (piece := _PIECE.match(lines[index].text)):
        rest += unescaped(piece["body"])
        if piece["seam"] and not rest.endswith("\n"):
            rest += "\n"
        *whole, rest = rest.split("\n")
        said += [lines[index]._replace(text=text) for text in whole]
        index += 1
        if piece["seam"] not in ("", ","):
            break
    if rest:
        said.append(lines[index - 1]._replace(text=rest))
    return said, index


LAYERS = (
    Layer(
        "literals",
        join,
        "input",
        40,
        "what code or pprint folded, before a terminal's width is measured",
    ),
    Layer("literals", join, "process", 30, "literals whose lines had prefixes"),
)
