"""Where the command line writes: standard output or a file, refused with a sentence."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


class OutputError(Exception):
    """An output that cannot be written; the message is a sentence for its user."""


@contextlib.contextmanager
def writer(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes text to the file, or to standard output for None.

    What an encoding does not hold is written as an escape.

    Raises:
        OutputError: the file cannot be written.
    """
    if path is None:
        stream = sys.stdout
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        yield stream.write
        stream.flush()
        return
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
            yield file.write
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def write(text: str, path: Path | None = None) -> None:
    """`writer` for one text.

    Raises:
        OutputError: the file cannot be written.
    """
    with writer(path) as put:
        put(text)
