"""The code cells of a notebook as one program, and which line stands in which cell."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any, NamedTuple

#: Cell magics that leave the cell Python.
_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")


class Cells(NamedTuple):
    """The text of all code cells, and for each of its lines the number of its cell and its line there."""

    text: str
    places: tuple[tuple[int, int], ...]


def cells(data: bytes) -> Cells:
    """The code cells of a notebook's bytes.

    Magics and shell lines become comments; a cell that is no Python then, blank lines. Cells count from 1,
    those of text left out.

    Raises:
        ValueError: it is no notebook; the message says why.
    """
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    found = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise ValueError("it has no cells")
    lines, places, number = list[str](), list[tuple[int, int]](), 0
    for cell in found:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        number += 1
        code = _python(_source(cell.get("source")))
        lines += code
        places += [(number, line) for line in range(1, len(code) + 1)]
    return Cells("\n".join([*lines, ""]), (*places, (max(number, 1), 1)))


def _source(value: Any) -> list[str]:
    text = "".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _python(lines: list[str]) -> list[str]:
    if lines[0].startswith("%%") and not lines[0].startswith(_PYTHON):
        return [""] * len(lines)
    code = [
        f"{line[: len(line) - len(line.lstrip())]}pass  # {line.strip()}"
        if line.lstrip().startswith(("%", "!"))
        else line
        for line in lines
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [""] * len(lines)
    return code
