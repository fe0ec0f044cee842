"""Large inputs: only the lines near something that may tell of a failure go on to be parsed.

Blocks are searched for a few dozen literals at once, at the speed of grep. Memory stays bounded whatever
the size, the length of lines, or how often the literals occur: of each kind of literal the first windows
and the last ones are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diagnose.parsing.bytestream import ByteStream, fill
from diagnose.parsing.lines import Peeled, split_returns
from diagnose.parsing.literals import finder, line_counter

#: Inputs up to this size are read whole.
SMALL, MOST_LINES = 1_000_000, 20_000
_BLOCK = 1 << 20
#: So many lines before and after a mark are kept (other ranks print in between), and so many bytes.
_LINES_BEFORE, _LINES_AFTER = 60, 200
_BEFORE, _AFTER = 1 << 16, 3 << 16
#: Of a line that is longer than any traceback, the parts around marks.
_LONG_LINE, _PART_BEFORE, _PART_AFTER = 1 << 15, 1 << 11, 1 << 16
_OPENING_LINES = 300
#: What a line costs beside its bytes, as objects of Python.
_LINE_COST = 150


@dataclass(frozen=True, slots=True)
class _Kind:
    """Marks of one weight, and what the first and the last windows around them may cost."""

    marks: tuple[bytes, ...]
    first: int
    last: int


#: Kinds are kept apart so that a log full of "Error rate: 0.1" or "loss nan" loses no traceback.
_KINDS = (
    _Kind(
        (
            b"Traceback", b'File "', b'File \\"', b"most recent call", b"\nE   ", b"Fatal Python",
            b"first observed failure", b"same device", b"terminate called", b"Segmentation fault",
        ),
        first=1 << 20,
        last=3 << 20,
    ),
    _Kind(
        (
            b"Error", b"Exception", b"Interrupt", b"Killed", b"ut of memory", b"Out Of Memory",
            b"oom_kill", b"oom-kill", b"oomkill", b"OOM", b"bad_alloc", b"memory limit", b"core dumped",
            b"SIGSEGV", b"SIGABRT", b"SIGKILL", b"us error", b"llegal instruction", b"double free",
            b"Received signal", b"with signal", b"return code = -", b"exit code", b"exited with",
            b"Watchdog caught", b"NCCL WARN", b"NCCL error", b"NCCL operations", b"ncclSystem",
            b"ncclUnhandled", b"CUDA error", b"CUDNN_STATUS", b"device-side assert", b"illegal memory",
            b"NVRM: Xid", b"No space left", b"quota exceeded", b"different device", b"evice mismatch",
            b"meta tensor", b"must be on", b"not on GPU",
        ),
        first=1 << 19,
        last=1 << 20,
    ),
    _Kind((b"nan", b"NaN", b"NAN", b" inf", b"=inf"), first=1 << 16, last=1 << 16),
)  # fmt: skip
_KIND_OF = tuple(index for index, kind in enumerate(_KINDS) for _ in kind.marks)
_MARKS = tuple(mark for kind in _KINDS for mark in kind.marks)
_OVERLAP = max(len(mark) for mark in _MARKS)
_NUMBERS = range(_KIND_OF.index(len(_KINDS) - 1), len(_MARKS))


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
    find, count = finder(_MARKS), line_counter()
    kept = [_Kept(kind) for kind in _KINDS]
    opening: list[_Window] = []
    buffer = bytearray(_BEFORE + _BLOCK + _AFTER)
    view = memoryview(buffer)
    base, line = 0, 1  # where the buffer begins in the input, and in which line
    filled = searched = 0
    while True:
        filled += fill(stream, view[filled:])
        ended = filled < len(buffer)
        if not opening:
            opening.append(_Window(0, 1, _opening(buffer, filled)))
        target = filled if ended else filled - _AFTER
        if hits := find(view[max(0, searched - _OVERLAP) : target]):
            _keep(kept, hits, max(0, searched - _OVERLAP), buffer, filled, base, line)
        if ended:
            break
        cut = max(0, target - _BEFORE)
        line += count(view[:cut])
        base += cut
        view[: filled - cut] = view[cut:filled]
        filled -= cut
        searched = target - cut
    view.release()
    return _lines([*opening, *(window for of in kept for window in of.windows())])


def _opening(buffer: bytearray, filled: int) -> bytes:
    """The log's first lines: they tell versions and the command."""
    end = 0
    for _ in range(_OPENING_LINES):
        end = buffer.find(b"\n", end, min(filled, _BEFORE)) + 1
        if not end:
            return bytes(buffer[: min(filled, _BEFORE)])
    return bytes(buffer[:end])


def _keep(
    kept: Sequence[_Kept],
    hits: Sequence[tuple[int, int]],
    shift: int,
    buffer: bytearray,
    filled: int,
    base: int,
    line: int,
) -> None:
    """Adds the windows around hits; ``shift`` is where in the buffer the search began."""
    position = 0
    for at, mark in hits:
        of = kept[_KIND_OF[mark]]
        hit = at + shift
        if base + hit < of.until or (mark in _NUMBERS and not _is_word(buffer, hit, mark)):
            continue
        start, end = _around(buffer, hit, filled)
        start = max(start, of.until - base)
        line += buffer.count(b"\n", position, hit)
        position = hit
        first = line - buffer.count(b"\n", start, hit)
        of.add(_Window(base + start, first, bytes(buffer[start:end])))
        of.until = base + end


def _is_word(buffer: bytearray, hit: int, mark: int) -> bool:
    """True where "nan" and its like do not stand within a longer word."""
    end = hit + len(_MARKS[mark])
    before, after = buffer[max(0, hit - 1) : hit], buffer[end : end + 1]
    return not (before.isalpha() and _MARKS[mark].isalpha()) and not after.isalnum()


def _around(buffer: bytearray, hit: int, filled: int) -> tuple[int, int]:
    """Where the window around a hit begins and ends."""
    lowest = max(0, hit - _BEFORE)
    feed = buffer.rfind(b"\n", lowest, hit)
    start = feed + 1 if feed >= 0 else lowest
    if hit - start > _LONG_LINE:
        start = hit - _PART_BEFORE
    elif feed >= 0:
        for _ in range(_LINES_BEFORE):
            feed = buffer.rfind(b"\n", lowest, start - 1)
            if feed < 0:
                start = start if lowest else 0
                break
            start = feed + 1
    highest = min(filled, hit + _AFTER)
    end = buffer.find(b"\n", hit + 1, min(filled, hit + _PART_AFTER)) + 1
    if not end:
        return start, min(filled, hit + _PART_AFTER)
    for _ in range(_LINES_AFTER):
        after = buffer.find(b"\n", end, highest) + 1
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
