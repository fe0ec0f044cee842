"""Large inputs: only the lines near something that may tell of a failure go on to be parsed.

Blocks are searched for a few dozen literals at once, at the speed of grep. Memory stays bounded whatever
the size, the length of lines, or how often the literals occur: of each kind of literal the first windows
and the last ones are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.parsing.bytestream import ByteStream, read_fully
from diagnose.parsing.lines import Peeled, split_returns
from diagnose.parsing.literals import Count, Hit, finder, line_counter

#: Inputs up to this size are read whole.
SMALL, MOST_LINES = 1_000_000, 20_000
_BLOCK = 1 << 18
#: Line feeds are worth numpy's import from here on.
_HUGE = 1 << 27
#: So many lines before and after a mark are kept (other ranks print in between, pytest prints whole
#: functions before it says "Error"), and so many bytes.
_LINES_BEFORE, _LINES_AFTER = 120, 200
_BEFORE, _AFTER = 1 << 16, 3 << 16
#: Of a line that is longer than any traceback, the parts around marks.
_LONG_LINE, _PART_BEFORE, _PART_AFTER = 1 << 15, 1 << 11, 1 << 16
_OPENING_LINES = 300
#: What a line costs beside its bytes, as objects of Python.
_LINE_COST = 150


class _Kind(NamedTuple):
    """Marks of one weight, and what the first and the last windows around them may cost."""

    marks: tuple[bytes, ...]
    first: int
    last: int


#: Kinds are kept apart so that a log full of "Error rate: 0.1" or "loss nan" loses no traceback. Up to 32
#: literals of four bytes or more are searched for in one go; beyond, the search takes twice as long.
_KINDS = (
    _Kind(
        (
            b"Traceback", b'File "', b"most recent call", b"\nE   ", b"Fatal Python", b"Root Cause",
            b"same device", b"minate called", b"egmentation fault",
        ),
        first=1 << 20,
        last=3 << 20,
    ),
    _Kind(
        (
            b"Error", b"Exception", b"Interrupt", b"Killed", b" of memory", b"oom_k", b"oom-k",
            b"core dumped", b"exit code", b"exited with", b"code = -", b"SIGKILL", b"NCCL ",
            b"Watchdog", b"CUDA error", b"No space left", b"bad_alloc", b"evice mismatch",
            b"different device", b"must be on",
        ),
        first=1 << 19,
        last=1 << 20,
    ),
    _Kind((b" nan", b"=nan", b" NaN"), first=1 << 16, last=1 << 16),
)  # fmt: skip
_KIND_OF = tuple(index for index, kind in enumerate(_KINDS) for _ in kind.marks)
_MARKS = tuple(mark for kind in _KINDS for mark in kind.marks)
_SEAM = max(len(mark) for mark in _MARKS) - 1


class _Window(NamedTuple):
    """A stretch of the input: where it begins, in which line that is, and its bytes."""

    start: int
    line: int
    data: bytes


class _Kept:
    """The first windows around the marks of one kind, and the last ones."""

    def __init__(self, kind: _Kind) -> None:
        self.until = 0  # what stands before this offset is kept or was
        self._first: list[_Window] = []
        self._last: deque[tuple[int, _Window]] = deque()
        self._room, self._most, self._held = kind.first, kind.last, 0

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


def telling_lines(stream: ByteStream) -> list[Peeled]:
    """The lines of a large input in UTF-8 that may matter, with their numbers, in their order.

    Raises what reading the stream raises.
    """
    find = finder(_MARKS)
    count: Count = _count
    kept = [_Kept(kind) for kind in _KINDS]
    before, block = b"", read_fully(stream, _BLOCK)
    opening = _Window(0, 1, _opening(block))
    offset, line = 0, 1  # where the block begins in the input, and in which line
    while block:
        after = read_fully(stream, _BLOCK) if len(block) == _BLOCK else b""
        hits = find(block)
        tail = block[-_SEAM:]  # a mark may stand across its end and the next block's beginning
        seam = find(tail + after[:_SEAM])
        if hits or seam:
            context = before[-_BEFORE:]
            near = context + block + after[:_AFTER]
            at_line = line - context.count(b"\n")
            place = offset - len(context), at_line
            _keep(kept, hits, near, len(context), *place)
            _keep(kept, seam, near, len(context) + len(block) - len(tail), *place)
        if offset == _HUGE:
            count = line_counter()
        line += count(block)
        offset += len(block)
        before, block = block, after
    return _lines([opening, *(window for of in kept for window in of.windows())])


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


def _keep(
    kept: Sequence[_Kept],
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
        of = kept[_KIND_OF[mark]]
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
