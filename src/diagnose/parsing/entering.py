"""From an input of any size and encoding to its lines, before anything is peeled off them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from diagnose.model import Marks
from diagnose.parsing.bytestream import ByteStream, peek, recoded
from diagnose.parsing.decoding import decode, encoding_of
from diagnose.parsing.lines import Peeled, physical_lines
from diagnose.parsing.streaming import MOST_LINES, SMALL, telling_lines
from diagnose.parsing.transports import documents, tables

if TYPE_CHECKING:  # an answer does not look on
    from diagnose.parsing.watching import Watch

_LARGEST_DOCUMENT = 32_000_000
_BLANKS = b"\xef\xbb\xbf \t\r\n"


def streamed(
    stream: ByteStream, marks: Callable[[], Marks], watch: Watch | None = None
) -> Sequence[Peeled]:
    """The lines of a stream that may matter; all of a short one.

    ``marks`` gives what a large one is searched for; ``watch`` as in `peel`.
    """
    head, stream = peek(stream, SMALL + 1)
    if len(head) <= SMALL:
        return lines_of(head, marks, watch)
    encoding = encoding_of(head)
    if encoding is None:
        return []
    if not encoding.startswith("utf-8"):
        stream = recoded(stream, encoding)
    elif head.lstrip(_BLANKS)[:1] in (b"{", b"["):
        document, stream = peek(stream, _LARGEST_DOCUMENT + 1)
        if len(document) <= _LARGEST_DOCUMENT and (found := _document(decode(document), watch)):
            return found
    return telling_lines(stream, marks())


def _document(text: str, watch: Watch | None) -> list[Peeled] | None:
    """The lines that a document carries, where the whole input is one."""
    for name, carried in (("documents", documents.read), ("tables", tables.read)):
        if (found := carried(text)) is not None:
            if watch is not None:
                watch.all(name, list(physical_lines(text)), found)
            return found
    return None


def lines_of(
    data: bytes | str, marks: Callable[[], Marks], watch: Watch | None = None
) -> Sequence[Peeled]:
    """The lines of an input; of a large one, those that may matter."""
    if isinstance(data, bytes) and len(data) > SMALL:
        return streamed(io.BytesIO(data), marks, watch)
    text = decode(data)
    if len(text) <= _LARGEST_DOCUMENT and (document := _document(text, watch)) is not None:
        return document
    if len(text) <= SMALL and text.count("\n") <= MOST_LINES and text.count("\r") <= MOST_LINES:
        return list(physical_lines(text))
    stream = io.BytesIO(text.encode("utf-8", errors="replace"))
    return telling_lines(stream, marks())
