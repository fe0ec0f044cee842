"""Large inputs: only the lines near something that may tell of a failure go on to be parsed.

Blocks are searched for a few literals with `bytes.find`, at the speed of grep; memory stays bounded
whatever the size, the length of lines, or how often the literals occur.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from diagnose.parsing.lines import Peeled, split_returns

#: Inputs up to this size are read whole.
SMALL, MOST_LINES = 1_000_000, 20_000
_BLOCK = 1 << 20
#: So many lines before and after a mark are kept (other ranks print in between).
_BEFORE, _AFTER = 60, 200
#: Bounds of what is kept: the beginning of the log, the first failures, and the last ones.
_OPENING, _FIRST, _LAST = 300, 4000, 16000
_LONGEST = 1 << 16
_WINDOW = 1 << 13
_MARKS = (
    b"Traceback", b'File "', b'File \\"', b"Error", b"Exception:", b"\nE   ", b"Segmentation fault",
    b"Fatal Python", b"Killed", b"oom", b"ut of memory", b"nan", b"NaN", b"terminate called",
    b"first observed failure", b"same device", b"No space left",
)  # fmt: skip


def telling_lines(chunks: Iterable[bytes]) -> list[Peeled]:
    """The lines of a large input that may matter, with their numbers, in their order.

    ``chunks``: the bytes of the input, however they are cut.
    """
    opening: list[Peeled] = []
    first: list[Peeled] = []
    last: deque[Peeled] = deque(maxlen=_LAST)
    for line in _near_marks(_blocks(chunks)):
        if line.number <= _OPENING:
            opening.append(line)
        elif len(first) < _FIRST:
            first.append(line)
        else:
            last.append(line)
    return [piece for line in (*opening, *first, *last) for piece in split_returns(line)]


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines; of a line that fills several blocks, the parts around marks."""
    rest = b""
    for chunk in chunks:
        for start in range(0, len(chunk), _BLOCK):
            block = rest + chunk[start : start + _BLOCK]
            cut = block.rfind(b"\n") + 1
            if not cut and len(block) > 2 * _BLOCK:
                block = _shortened(block)
            if cut:
                yield block[:cut]
            rest = block[cut:]
    if rest:
        yield rest


def _near_marks(blocks: Iterable[bytes]) -> Iterator[Peeled]:
    number = 1  # of the first line of the block
    kept_to = 0  # the number of the last line handed on
    wanted_to = _OPENING  # lines up to this number follow a mark
    for block in blocks:
        hits = _hits(block)
        if not hits and wanted_to < number:
            number += block.count(b"\n")
            continue
        lines = block.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        for low, high in _ranges(block, hits, number, wanted_to):
            for at in range(max(low, kept_to + 1), min(high, number + len(lines) - 1) + 1):
                yield Peeled(at, _text(lines[at - number]))
                kept_to = at
            wanted_to = max(wanted_to, high)
        number += len(lines)


def _hits(block: bytes) -> list[int]:
    """Where marks stand, not more than one in a stretch that is kept for another anyway."""
    found: list[int] = []
    for mark in _MARKS:
        position = block.find(mark)
        while position >= 0:
            found.append(position)
            position = block.find(mark, position + _WINDOW // 2)
    return sorted(found)


def _ranges(
    block: bytes, hits: list[int], number: int, wanted_to: int
) -> Iterator[tuple[int, int]]:
    """Ranges of line numbers to keep, ascending."""
    if wanted_to >= number:
        yield number, wanted_to
    if not hits:
        return
    line, position = number, 0
    for hit in hits:
        line += block.count(b"\n", position, hit)
        position = hit
        yield max(number, line - _BEFORE), line + _AFTER


def _text(line: bytes) -> str:
    if len(line) > _LONGEST:
        line = _shortened(line)[:_LONGEST]
    return line.decode("utf-8", errors="replace")


def _shortened(line: bytes) -> bytes:
    """The parts of a very long line that stand around marks."""
    starts = _hits(line)[:64]
    parts: list[bytes] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        parts.append(line[max(end, start - _WINDOW // 4) : start + _WINDOW])
        end = start + _WINDOW
    return b" ".join(parts) if parts else line[:_WINDOW]
