"""A file of Python or a notebook as the source that the analysis reads; nothing is run or imported."""

from __future__ import annotations

import ast
import io
import stat
import tokenize
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from diagnose.checking.notebook import Cells, cells
from diagnose.errors import printable
from diagnose.placement.model import Source

#: Bytes of the largest file that is read: what is larger was generated.
LARGEST = 1_000_000


class UnreadableError(Exception):
    """A file that cannot be checked; the message is a sentence that begins with its name."""


class Read(NamedTuple):
    """A file as it was read: its source, its encoding, and the cells of a notebook."""

    source: Source
    encoding: str = "utf-8"
    cells: Cells | None = None

    @property
    def text(self) -> str:
        """All of the file."""
        return self.cells.document if self.cells is not None else self.source.text


def read(path: str, texts: Mapping[str, str] | None = None) -> Read:
    """Reads a file, or takes its text from ``texts`` where that has one.

    Raises:
        UnreadableError: it is not there, too large, not text, or not Python 3.
    """
    held = texts.get(path) if texts else None
    if held is not None and not path.endswith(".ipynb"):
        return Read(parsed(path, held))
    data = held.encode() if held is not None else contents(path)
    if path.endswith(".ipynb"):
        try:
            found = cells(data)
        except ValueError as error:
            raise UnreadableError(f"{path} is not a notebook: {error}") from error
        return Read(parsed(path, found.text), cells=found)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        raise UnreadableError(f"{path} is not text in the encoding that it declares") from error
    return Read(parsed(path, text), encoding)


def contents(path: str) -> bytes:
    """The bytes of a file.

    Raises:
        UnreadableError: it is not there, no regular file, or too large.
    """
    try:
        about = Path(path).stat()
        if not stat.S_ISREG(about.st_mode):
            raise UnreadableError(f"{path} is not a regular file")
        if about.st_size > LARGEST:
            raise UnreadableError(f"{path} is not checked: it is larger than {LARGEST:,} bytes")
        with Path(path).open("rb") as file:
            return file.read(LARGEST)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a null character in its name
        raise UnreadableError(f"{path} cannot be read: {error}") from error


def parsed(path: str, text: str) -> Source:
    """The source of a file's text.

    Raises:
        UnreadableError: it is not Python 3, or nested too deeply.
    """
    if "\r" in text.replace("\r\n", ""):
        raise UnreadableError(f"{path} is not checked: carriage returns alone end its lines")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's escapes such as "\d"
            tree = ast.parse(text)
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else path
        reason = printable(error.msg or "invalid syntax")
        raise UnreadableError(f"{where} cannot be read as Python 3: {reason}") from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(f"{path} is not checked: it is nested too deeply") from error
    except ValueError as error:  # a null character
        raise UnreadableError(f"{path} cannot be read as Python 3: {error}") from error
    return Source(path, tuple(text.split("\n")), tree)
