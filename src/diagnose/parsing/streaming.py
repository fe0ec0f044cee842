"""Large inputs: only the lines near something that may tell of a failure go on to be parsed.

Blocks are searched for everything that a small input would be read for (`marks`), at the speed of grep.
The first lines and the last ones are kept in any case: versions and the command stand in those, and in
these what ended the job. Memory stays bounded whatever the size, the length of lines, or how often marks
occur: around each kind of mark the first windows and the last ones are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.model import Marks
from diagnose.parsing.bytestream import ByteStream, read_fully
from diagnose.parsing.lines import Peeled, split_returns
from diagnose.parsing.literals import Count, Hit, line_counter
from diagnose.parsing.search import Search

#: Inputs up to this size are read whole.
SMALL, MOST_LINES = 1_000_000, 20_000
_BLOCK = 1 << 18
#: Line feeds are worth an import from here on.
_HUGE = 1 << 25
#: So many lines before and after a mark are kept (other ranks print in between, pytest prints whole
#: functions before it says "Error"), and so many bytes.
_LINES_BEFORE, _LINES_AFTER = 120, 200
_BEFORE, _AFTER = 1 << 16, 3 << 16
#: Of a line that is longer than any traceback, the parts around marks.
_LONG_LINE, _PART_BEFORE, _PART_AFTER = 1 << 15, 1 << 11, 1 << 16
_OPENING_LINES = _CLOSING_LINES = 300
#: What a line costs beside its bytes, as objects of Python.
_LINE_COST = 150


class _Budget(NamedTuple):
    """What the first and the last windows around marks of one kind may cost."""

    first: int
    last: int


#: Kinds are kept apart so that a log full of "Error rate: 0.1" or "loss nan" loses no traceback: of
#: tracebacks, exceptions, device wordings, and of each rule for lines.
_BUDGETS = (_Budget(1 << 20, 3 << 20), _Budget(1 << 19, 1 << 20), _Budget(1 << 19, 1 << 20))
_A_RULE = _Budget(1 << 16, 1 << 17)


class _Window(NamedTuple):
    """A stretch of the input: where it begins, in which line that is, and its bytes."""

    start: int
    line: int
    data: bytes


class _Kept:
    """The first windows around the marks of one kind, and the last ones."""

    def __init__(self, budget: _Budget) -> None:
        self.until = 0  # what stands before this offset is kept or was
        self._first: list[_Window] = []
        self._last: deque[tuple[int, _Window]] = deque()
        self._room, self._most, self._held = budget.first, budget.last, 0

    def add(self, window: _Window) -> None:
        data = window.data
        cost = len(data) + _LINE_COST * (1 + data.count(b"\n") + data.count(b"\r"))
        if self._room > 0:
            self._room -= cost
            self._first.append(window)
            return
        self._last.append((cost, window))
        self._held += cost
        while self._held > self._most and len(self._last) > 1:
            self._held -= self._last.popleft()[0]

    def windows(self) -> Iterator[_Window]:
        yield from self._first
        yield from (window for _, window in self._last)


def telling_lines(stream: ByteStream, marks: Marks) -> list[Peeled]:
    """The lines of a large input in UTF-8 that may matter, with their numbers, in their order.

    Raises what reading the stream raises.
    """
    search = Search(marks)
    count: Count = _count
    rules = len(marks.rules)
    kept = [_Kept(budget) for budget in (*_BUDGETS, *(_A_RULE for _ in range(rules)))]
    before, block = b"", read_fully(stream, _BLOCK)
    opening = _Window(0, 1, _opening(block))
    offset, line = 0, 1  # where the block begins in the input, and in which line
    while block:
        after = read_fully(stream, _BLOCK) if len(block) == _BLOCK else b""
        hits = search.hits(block)
        tail = block[
            -search.seam :
        ]  # a mark may stand across its end and the next block's beginning
        seam = search.hits(tail + after[: search.seam])
        if hits or seam:
            context = before[-_BEFORE:]
            near = context + block + after[:_AFTER]
            at_line = line - context.count(b"\n")
            place = offset - len(context), at_line
            _keep(kept, search.kinds, hits, near, len(context), *place)
            _keep(kept, search.kinds, seam, near, len(context) + len(block) - len(tail), *place)
        if offset == _HUGE:
            count = line_counter(_BLOCK)
        line += count(block)
        offset += len(block)
        before, block = block, after
    closing = _closing(before, offset, line)
    return _lines([opening, *(window for of in kept for window in of.windows()), closing])


def _count(block: bytes) -> int:
    return block.count(b"\n")


def _opening(block: bytes) -> bytes:
    """The log's first lines: they tell versions and the command."""
    end = 0
    for _ in range(_OPENING_LINES):
        end = block.find(b"\n", end, _BEFORE) + 1
        if not end:
            return block[:_BEFORE]
    return block[:end]


def _closing(data: bytes, offset: int, line: int) -> _Window:
    """The log's last lines, of its last bytes, which end at this offset and in this line."""
    start = len(data)
    for _ in range(_CLOSING_LINES + 1):
        start = data.rfind(b"\n", 0, start)
        if start < len(data) - _BEFORE:
            break
    start = max(start + 1, len(data) - _BEFORE)
    last = data[start:]
    return _Window(offset - len(last), line - last.count(b"\n"), last)


def _keep(
    kept: Sequence[_Kept],
    kinds: Sequence[int],
    hits: Sequence[Hit],
    near: bytes,
    shift: int,
    offset: int,
    line: int,
) -> None:
    """Adds the windows around hits.

    ``near`` is a block with its neighbours, which begins ``offset`` bytes into the input in this
    ``line``; positions of hits count from ``shift`` bytes into it.
    """
    position = 0
    for mark, at, _ in hits:
        of = kept[kinds[mark]]
        hit = at + shift
        if hit < of.until - offset:
            continue
        start, end = _around(near, hit)
        start = max(start, of.until - offset)
        line += near.count(b"\n", position, hit)
        position = hit
        first = line - near.count(b"\n", start, hit)
        of.add(_Window(offset + start, first, near[start:end]))
        of.until = offset + end


def _around(near: bytes, hit: int) -> tuple[int, int]:
    """Where the window around a hit begins and ends."""
    lowest = max(0, hit - _BEFORE)
    feed = near.rfind(b"\n", lowest, hit)
    start = feed + 1 if feed >= 0 else lowest
    if hit - start > _LONG_LINE:
        start = hit - _PART_BEFORE
    elif feed >= 0:
        for _ in range(_LINES_BEFORE):
            feed = near.rfind(b"\n", lowest, start - 1)
            if feed < 0:
                start = start if lowest else 0
                break
            start = feed + 1
    highest = min(len(near), hit + _AFTER)
    end = near.find(b"\n", hit + 1, min(len(near), hit + _PART_AFTER)) + 1
    if not end:
        return start, min(len(near), hit + _PART_AFTER)
    for _ in range(_LINES_AFTER):
        after = near.find(b"\n", end, highest) + 1
        if not after:
            return start, highest
        end = after
    return start, end


def _lines(windows: Sequence[_Window]) -> list[Peeled]:
    """The lines of windows that may overlap or touch, each once."""
    found: list[Peeled] = []
    for line, data in _runs(windows):
        texts = data.decode("utf-8", errors="replace").split("\n")
        if not texts[-1]:
            texts.pop()
        for number, text in enumerate(texts, line):
            for at in range(0, max(1, len(text)), _PART_AFTER):
                found += split_returns(Peeled(number, text[at : at + _PART_AFTER]))
    return found


def _runs(windows: Sequence[_Window]) -> Iterator[tuple[int, bytes]]:
    """Windows put together: the line in which a run begins, and its bytes."""
    parts: list[bytes] = []
    line, end = 1, 0
    for window in sorted(windows):
        data = window.data
        if window.start > end or not parts:
            if parts:
                yield line, b"".join(parts)
            parts, line = [data], window.line
        elif (fresh := window.start + len(data) - end) > 0:
            parts.append(data[-fresh:])
        end = max(end, window.start + len(data))
    if parts:
        yield line, b"".join(parts)
