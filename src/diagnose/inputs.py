"""The inputs of the command line: standard input and files, decompressed, refused with a sentence."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from diagnose.errors import DiagnoseError, printable
from diagnose.outputs import is_terminal
from diagnose.parsing.bytestream import ByteStream, Chunks, chunks, peek
from diagnose.parsing.compression import CompressionError, decompressed
from diagnose.parsing.decoding import without_hole

_HEAD = 65536
#: Seconds that a pipe may stay without anybody at its other end.
_PATIENCE = 2.0
_PROMPT = (
    "Paste the traceback or log, then end with Ctrl-D on a line of its own (Ctrl-Z on Windows):"
)


class InputError(DiagnoseError):
    """An input that cannot be read; the message is a sentence for its user."""


def is_grouped(files: Sequence[str], form: str) -> bool:
    """Whether equal failures of inputs are put together: of a folder, and of several files whose answers
    are not asked for one by one."""
    # No Path: an answer starts without pathlib's import.
    return any(os.path.isdir(one) for one in files) or (len(files) > 1 and form == "text")  # noqa: PTH112


@contextlib.contextmanager
def opened(name: str) -> Iterator[ByteStream]:
    """A file, or standard input for ``-``, as a stream of its decompressed bytes.

    Raises:
        InputError: there is no such file, it is a directory, empty, binary or unreadable; reading from
            the stream within the context raises it too.
    """
    shown = "standard input" if name == "-" else _printable(name)
    try:
        with contextlib.ExitStack() as stack:
            raw = _standard() if name == "-" else _file(stack, name, shown)
            head, stream = peek(decompressed(raw), _HEAD)
            if not head.strip() and len(head) < _HEAD:
                raise InputError(f"{shown} is empty; paste a traceback or a training log")
            if is_binary(head):
                raise InputError(
                    f"{shown} is binary, not a log; paste the text that the program printed"
                )
            yield stream
    except IsADirectoryError as error:
        raise InputError(
            f"{shown} is a directory; diagnose {shown} groups the failures of the logs in it"
        ) from error
    except CompressionError as error:
        raise InputError(f"{shown} {error}") from error
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from error


def _printable(name: str) -> str:
    """A file's name on one line, with what is not UTF-8 or would steer a terminal replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in printable(name))


def _file(stack: contextlib.ExitStack, name: str, shown: str) -> ByteStream:
    """A file or a pipe, which the stack closes; nothing that never begins or never ends.

    Raises:
        InputError: it is a device, or a pipe whose other end nobody opens.
        OSError: it cannot be opened.
    """
    kind = Path(name).stat().st_mode
    piped = stat.S_ISFIFO(kind) and os.name != "nt"
    flags = os.O_RDONLY | (os.O_NONBLOCK if piped else getattr(os, "O_BINARY", 0))
    raw = stack.enter_context(os.fdopen(os.open(name, flags), "rb", 0))
    if (stat.S_ISCHR(kind) or stat.S_ISBLK(kind)) and not raw.isatty():
        raise InputError(f"{shown} is a device, not a log")
    return _begun(raw, shown) if piped else raw


def _begun(pipe: io.FileIO, shown: str) -> ByteStream:
    """A pipe that was opened without waiting, once somebody writes to it or has written.

    Raises:
        InputError: nobody does for `_PATIENCE` seconds.
    """
    import select

    select.select([pipe], [], [], _PATIENCE)
    first = pipe.read(1)  # None where a writer is there and has nothing to say yet
    if first == b"":
        raise InputError(f"{shown} is a pipe that nobody writes to, or empty")
    os.set_blocking(pipe.fileno(), True)
    return Chunks(itertools.chain([first] if first else [], chunks(pipe)))


def _standard() -> ByteStream:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; name a file or pipe one in")
    if is_terminal(sys.stdin):
        print(_PROMPT, file=sys.stderr)
        return io.BytesIO(sys.stdin.buffer.read())
    return cast(ByteStream, sys.stdin.buffer)


def is_binary(head: bytes) -> bool:
    """True where the text would be lost in other bytes: many NULs that are not UTF-16 or UTF-32."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    head = without_hole(head)
    nulls = head.count(0)
    utf16 = nulls and min(head[0::2].count(0), head[1::2].count(0)) < nulls / 20
    controls = sum(head.count(bytes([c])) for c in (1, 2, 3, 4, 5, 6, 14, 15, 16, 17, 18, 19, 20))
    return (nulls > len(head) / 50 and not utf16) or controls > len(head) / 50
