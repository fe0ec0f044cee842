"""systemd's journal with its fields, one a line (`journalctl -o export`, `-o verbose`): the messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_MESSAGE = lazy(r"^\s*MESSAGE=(?P<said>.*)$")
_FIELD = lazy(r"^\s*_{0,2}[A-Z][A-Z0-9_]*=")
_ENTRY = lazy(r"\[s=[0-9a-f]+;i=[0-9a-f]+;")
_LENGTH = 8  # bytes before a message that is no plain text
_FEWEST, _NEAR = 3, 30


def messages(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """The lines without the journal's other fields; as they are where they come from no journal."""
    said = [index for index, line in enumerate(lines) if "MESSAGE" in line.text[:12]]
    near = lines[max(0, said[0] - _NEAR) : said[0] + _NEAR] if said else ()
    if sum(_FIELD.match(line.text) is not None for line in near) < _FEWEST:
        yield from lines
        return
    binary = False
    for line in lines:
        text = line.text
        if binary:
            yield line._replace(text=text[_LENGTH:])
            binary = False
        elif match := _MESSAGE.match(text):
            yield line._replace(text=match["said"])
        elif text == "MESSAGE":
            binary = True
        elif text.strip() and not _FIELD.match(text) and not _ENTRY.search(text):
            yield line


LAYERS = (
    Layer("journal", messages, "input", 20, "its fields carry messages that may be anything below"),
)
