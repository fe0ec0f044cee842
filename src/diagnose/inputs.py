"""The inputs of the command line: standard input and files, decompressed, refused with a sentence."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from diagnose.parsing.bytestream import ByteStream, peek
from diagnose.parsing.compression import CompressionError, decompressed
from diagnose.parsing.decoding import without_hole

_HEAD = 65536
_PROMPT = (
    "Paste the traceback or log, then end with Ctrl-D on a line of its own (Ctrl-Z on Windows):"
)


class InputError(Exception):
    """An input that cannot be read; the message is a sentence for its user."""


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
            raw = _standard() if name == "-" else stack.enter_context(Path(name).open("rb", 0))
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
            f"{shown} is a directory; diagnose scan {shown} groups the failures of the logs in it"
        ) from error
    except CompressionError as error:
        raise InputError(f"{shown} {error}") from error
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from error


def _printable(name: str) -> str:
    """A file's name with what is not UTF-8 in it replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _standard() -> ByteStream:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; name a file or pipe one in")
    if sys.stdin.isatty():
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
