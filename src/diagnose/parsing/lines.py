"""A line on its way through the transports: where it stands, what it says, which process printed it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from diagnose.patterns import lazy

#: Longer lines are cut: nobody's traceback has one, and every pattern stays cheap.
LONGEST = 20_000


#: Carriage return, vertical tab, form feed, and Unicode's own line ends.
_RETURN = lazy("[\r\x0b\x0c\x85\u2028\u2029]")


class Peeled(NamedTuple):
    """A line: 1-based number in the input, text without the transports peeled so far, and the channel
    (rank, worker or host) that printed it where a prefix said so."""

    number: int
    text: str
    channel: str | None = None


def physical_lines(text: str, first: int = 1) -> Iterator[Peeled]:
    """The lines of a text.

    A progress bar's lone carriage returns split a line too; its pieces keep the line's number. In a
    file without any line feed a carriage return is the line's end.
    """
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
    plain = _RETURN.search(text) is None
    for number, line in enumerate(text.split("\n"), first):
        if plain:
            yield Peeled(number, line)
        else:
            yield from split_returns(Peeled(number, line))


def split_returns(line: Peeled) -> Iterator[Peeled]:
    """The pieces that a terminal would have shown one over the other, or one under the other."""
    if _RETURN.search(line.text) is None:
        yield line
        return
    pieces = [piece for piece in _RETURN.split(line.text) if piece]
    for piece in pieces or [""]:
        yield line._replace(text=piece)
