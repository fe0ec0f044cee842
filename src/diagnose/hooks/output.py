"""Where an answer goes: a terminal, a pipe that may be full or closed, a notebook's stream."""

from __future__ import annotations

import os
import select
import sys
from typing import NamedTuple, TextIO

_COLUMNS = 100
#: How much a pipe that is ready takes without blocking (POSIX guarantees 512).
_CHUNK = getattr(select, "PIPE_BUF", 512)
_PATIENCE = 1.0


class Look(NamedTuple):
    """How an answer is laid out."""

    columns: int
    color: bool


def standard_error() -> TextIO | None:
    """`sys.stderr`, or None where a program has none."""
    stream = sys.stderr
    return None if stream is None or getattr(stream, "closed", False) else stream


def look_of(stream: TextIO) -> Look:
    """The terminal's width and colours where it is one; plain otherwise."""
    isatty = getattr(stream, "isatty", None)
    if isatty is None or not isatty():
        return Look(_COLUMNS, False)
    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    import shutil

    return Look(min(shutil.get_terminal_size((_COLUMNS, 24)).columns, 120), color)


def write(text: str, stream: TextIO) -> None:
    """Write an answer in one go.

    The process's own stderr is written past its buffer: text that stayed there, because the reader
    has gone, would fail once more when Python shuts down and change the exit status to 120.

    Raises:
        OSError: nobody reads.
        ValueError: the stream is closed.
    """
    stream.flush()
    if stream is not sys.__stderr__ or os.name == "nt":
        stream.write(text)
        stream.flush()
        return
    data = text.encode(stream.encoding or "utf-8", stream.errors or "backslashreplace")
    descriptor = stream.fileno()
    while data:
        _, ready, _ = select.select([], [descriptor], [], _PATIENCE)
        if not ready:
            return
        data = data[os.write(descriptor, data[:_CHUNK]) :]
