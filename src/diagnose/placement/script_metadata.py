"""The release of a library that a script asks for in its own metadata (PEP 723, ``# /// script``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from diagnose.placement.model import Source, Spot

_OPENS = "# /// script"
_CLOSES = "# ///"
_PINNED = re.compile(
    r"""(?P<quote>["'])(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[^\]"']*\])?\s*"""
    r"""==\s*(?P<release>[A-Za-z0-9.+!]+)(?P=quote)"""
)


def pinned(files: Iterable[Source], library: str) -> Spot | None:
    """The text by which the only script that does so pins a library to one release. Its node is
    a constant of no tree, for the text stands in a comment.

    Args:
        files: the user's own.
        library: the name that it is imported by.
    """
    found = [spot for source in files if (spot := _in_metadata(source, library)) is not None]
    return found[0] if len(found) == 1 else None


def _in_metadata(source: Source, library: str) -> Spot | None:
    inside = False
    for number, line in enumerate(source.lines, 1):
        text = line.rstrip()
        if not inside:
            inside = text == _OPENS
        elif text == _CLOSES or not text.startswith("#"):
            return None
        else:
            for pin in _PINNED.finditer(line):
                if _normal(pin["name"]) == _normal(library):
                    return _spot(source, number, line, pin)
    return None


def _spot(source: Source, number: int, line: str, pin: re.Match[str]) -> Spot:
    start, end = pin.start() + 1, pin.end() - 1
    node = ast.Constant(line[start:end])
    node.lineno = node.end_lineno = number
    node.col_offset, node.end_col_offset = (len(line[:at].encode()) for at in (start, end))
    return Spot(source, node)


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()
