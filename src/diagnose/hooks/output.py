"""Where an answer goes: a terminal, a pipe that may be full or closed, a notebook's stream."""

from __future__ import annotations

import os
import select
import sys
from types import FunctionType, MethodType
from typing import NamedTuple, TextIO

from diagnose.hooks.introspection import attributes, bases, namespace
from diagnose.tracing.stacks import is_library

_COLUMNS = 100
#: How much a pipe that is ready takes without blocking (POSIX guarantees 512).
_CHUNK = getattr(select, "PIPE_BUF", 512)
_PATIENCE = 1.0


class Look(NamedTuple):
    """How an answer is laid out."""

    columns: int
    color: bool


def standard_error() -> TextIO | None:
    """`sys.stderr`, or None where a program has none or has closed it.

    Where the program has put a stream of its own there, whose code is not ours to run, the process's stderr
    stands in for it. Those of Python and of installed packages are used: pytest captures the answer, and
    Jupyter shows it below its cell.
    """
    stream: TextIO | None = getattr(sys, "stderr", None)
    try:
        if _is_programs(stream):
            stream = sys.__stderr__
        return None if _is_programs(stream) or getattr(stream, "closed", False) else stream
    except ValueError:  # its buffer was taken from it
        return None


def _is_programs(stream: object) -> bool:
    """Whether the program has written a stream's class, one that this inherits from, a method that was set
    on the stream, or what the stream writes to."""
    for part in (attributes(stream), *map(namespace, bases(type(stream)))):
        for value in part.values():
            found = value.fget if type(value) is property else value
            found = found.__func__ if type(found) is MethodType else found
            if type(found) is FunctionType and not is_library(found.__code__.co_filename):
                return True
    below = [getattr(stream, name, None) for name in ("buffer", "raw")]
    return any(one is not stream and _is_programs(one) for one in below if one is not None)


def look_of(stream: TextIO) -> Look:
    """The terminal's width and colours where it is one; plain otherwise."""
    isatty = getattr(stream, "isatty", None)
    if isatty is None or not isatty():
        return Look(_COLUMNS, False)
    from diagnose.outputs import is_held

    color = not is_held() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
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
