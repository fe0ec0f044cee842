"""A file that was found."""

from __future__ import annotations

from typing import NamedTuple


class SourceFile(NamedTuple):
    """A file of Python source.

    ``name`` is the file as the traceback prints it, ``path`` where it was found (of one that no frame
    names, both are that). ``lines`` have no line feeds; what stands after the last line feed is the last of
    them, empty where the file ends with one. Carriage returns stay.
    """

    name: str
    path: str
    lines: tuple[str, ...]
