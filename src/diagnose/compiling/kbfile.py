"""Reads one file of kb/. Whatever keeps it from being read is a `KbError`: a check tells of all files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diagnose._toml import TOMLDecodeError, loads
from diagnose.compiling.kberror import KbError

#: The largest file that is read; the largest of ours has less than a tenth of it.
_MOST = 8 << 20


def text_of(path: Path, name: str) -> str:
    """The text of a file.

    Args:
        path: the file.
        name: what a `KbError` calls it.

    Raises:
        KbError: it is missing, too large, not UTF-8, or a device or a pipe, which might never end.
    """
    try:
        if path.exists() and not path.is_file():
            raise KbError(name, "-", "is no regular file")
        if (size := path.stat().st_size) > _MOST:
            raise KbError(name, "-", f"has {size} bytes, at most {_MOST} are read")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KbError(name, "-", str(error)) from error


def toml_of(path: Path, name: str) -> dict[str, Any]:
    """The table of a TOML file.

    Raises:
        KbError: as `text_of`, or it is no TOML.
    """
    try:
        table: dict[str, Any] = loads(text_of(path, name))
    except TOMLDecodeError as error:
        raise KbError(name, "-", str(error)) from error
    except RecursionError:
        raise KbError(name, "-", "is nested too deeply") from None
    return table
