"""The code cells of a notebook as one program, which line stands in which cell, and new code for cells."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

from diagnose.checking.model import Replacement

#: Cell magics that leave the cell Python.
_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")


#: What a magic or a shell line becomes.
_MAGIC = "pass  # "
#: How notebooks are written: their indentation, whether in ASCII only, and what ends the file.
_STYLES = tuple(product((1, 2, 4, None), (False, True), ("\n", "")))


class Cells(NamedTuple):
    """The text of all code cells, and for each of its lines the number of its cell and its line there.

    ``document`` is the notebook's text.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    document: str = ""

    def within(self, change: Replacement) -> Replacement | None:
        """A replacement of lines of ``text`` as one of lines of a cell; None where it is of no single cell,
        of one that is not Python, or of a magic."""
        lines, last = self.text.split("\n"), change.first + change.removed - 1
        if change.removed:
            cell, first = self.places[change.first - 1]
            old = lines[change.first - 1 : last]
            whole = self.places[last - 1][0] == cell
            magic = any(line.lstrip().startswith((_MAGIC + "%", _MAGIC + "!")) for line in old)
            return change._replace(first=first, cell=cell) if whole and not magic else None
        after, before = (
            change.first - 1,
            change.first,
        )  # what it comes after, and what it comes before
        if after and self._is_python(after, lines):
            cell, first = self.places[after - 1]
            return change._replace(first=first + 1, cell=cell)
        if before < len(self.places) and self._is_python(before, lines):
            cell, first = self.places[before - 1]
            free = not lines[before - 1].startswith(_MAGIC + "%%")
            return change._replace(first=first, cell=cell) if free else None
        return None

    def _is_python(self, number: int, lines: list[str]) -> bool:
        """Whether a line is of a cell that is read."""
        cell = self.places[number - 1][0]
        pairs = zip(self.places, lines, strict=False)
        return any(line.strip() for (one, _), line in pairs if one == cell)


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
    lines, places = list[str](), list[tuple[int, int]]()
    code = _code(document)
    for number, cell in enumerate(code, 1):
        read = _python(_source(cell.get("source")))
        lines += read
        places += [(number, line) for line in range(1, len(read) + 1)]
    text = "\n".join([*lines, ""])
    return Cells(text, (*places, (max(len(code), 1), 1)), data.decode("utf-8", "replace"))


def _code(document: Any) -> list[dict[str, Any]]:
    """The code cells."""
    found = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise ValueError("it has no cells")
    return [one for one in found if isinstance(one, dict) and one.get("cell_type") == "code"]


def spliced(document: str, changes: Iterable[Replacement]) -> str | None:
    """A notebook's text with other lines in its code cells, all else of it as it was, to the letter.

    Returns:
        None where a cell would be no Python, or where the notebook is not written as `json` writes.
    """
    notebook = json.loads(document)
    if (style := _style(document, notebook)) is None:
        return None
    code = _code(notebook)
    ordered = sorted(changes, key=lambda change: -change.first)
    for number in {change.cell for change in ordered if change.cell is not None}:
        cell = code[number - 1]
        lines = _source(cell.get("source"))
        for change in ordered:
            if change.cell == number:
                lines[change.first - 1 : change.first - 1 + change.removed] = change.lines
        if not any(_python(lines)):
            return None
        text = "\n".join(lines)
        listed = isinstance(cell.get("source"), list)
        cell["source"] = text.splitlines(keepends=True) if listed else text
    return _written(notebook, style)


_Style = tuple[int | None, bool, str]


def _style(document: str, notebook: Any) -> _Style | None:
    """How a notebook is written; None where no style gives it back to the letter."""
    if "\\r" in document:  # carriage returns, which editors take for line ends
        return None
    return next((one for one in _STYLES if _written(notebook, one) == document), None)


def _written(notebook: Any, style: _Style) -> str:
    indent, ascii_only, end = style
    return json.dumps(notebook, indent=indent, ensure_ascii=ascii_only) + end


def _source(value: Any) -> list[str]:
    text = "".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _python(lines: list[str]) -> list[str]:
    if lines[0].startswith("%%") and not lines[0].startswith(_PYTHON):
        return [""] * len(lines)
    code = [
        f"{line[: len(line) - len(line.lstrip())]}{_MAGIC}{line.strip()}"
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
