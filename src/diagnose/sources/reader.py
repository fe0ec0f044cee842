"""The lines of a file: of a regular one of sensible size, or of one that Python has in its cache."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from diagnose.model import UnusedReason

Lines = tuple[str, ...]
#: The lines of the file of that name; None where there is none.
Reader = Callable[[str], "Lines | None"]

#: Bytes of the largest file that is read.
LARGEST = 2_000_000


class UnusableError(Exception):
    """A file that is there and cannot be used."""

    def __init__(self, reason: UnusedReason) -> None:
        super().__init__(reason)
        self.reason = reason


def read_file(name: str) -> Lines | None:
    """The lines of a regular Python file; None where there is none of that name.

    The name may come from a log: no pipe or device is opened, no other machine is asked, ``~`` and
    variables mean themselves.

    Raises:
        UnusableError: it is too large, it may not be read, or its bytes are not the text that it claims.
    """
    if not name.endswith(".py") or name.startswith(("//", "\\\\")):
        return None  # what begins with two slashes is a share of another machine, on Windows
    try:
        about = Path(name).stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    if about.st_size > LARGEST:
        raise UnusableError("large")
    try:
        with Path(name).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UnusableError("unreadable") from error
    return decoded(data)


def decoded(data: bytes) -> Lines:
    """The lines of a file's bytes, in the encoding that it declares.

    Raises:
        UnusableError: there are too many, or they are not in that encoding.
    """
    if len(data) > LARGEST:
        raise UnusableError("large")
    import tokenize  # most answers read no file

    try:
        encoding, _ = tokenize.detect_encoding(iter(data.splitlines(keepends=True)[:2]).__next__)
        return tuple(data.decode(encoding).split("\n"))
    except (SyntaxError, ValueError, LookupError) as error:
        raise UnusableError("unreadable") from error


def read_cached(name: str) -> Lines | None:
    """The lines that Python itself shows of a module that it runs, or of a notebook's cell.

    linecache looks for a relative name in all of `sys.path`, where `torch/__init__.py` is found: such a
    name stands for the file in the current folder alone.
    """
    import linecache

    path = Path(name)
    if not path.is_absolute() and name not in linecache.cache and not path.exists():
        return None
    lines = linecache.getlines(name)
    return tuple("".join(lines).split("\n")) if lines else None
