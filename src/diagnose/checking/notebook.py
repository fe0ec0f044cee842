"""The code cells of a notebook as one program, which line stands in which cell, and new code for cells."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from diagnose.checking.model import Replacement

#: Cell magics that leave the cell Python.
_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")


#: What a magic or a shell line becomes.
_MAGIC = "pass  # "
_SPACE = re.compile(r"[ \t\r\n]*")
_JSON = json.JSONDecoder()


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
    return Cells(text, (*places, (max(len(code), 1), 1)), _text(data))


def _text(data: bytes) -> str:
    """A notebook's text; empty where it is in another encoding than notebooks are, and only read."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _code(document: Any) -> list[dict[str, Any]]:
    """The code cells."""
    found = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise ValueError("it has no cells")
    return [one for one in found if isinstance(one, dict) and one.get("cell_type") == "code"]


def spliced(document: str, changes: Iterable[Replacement]) -> str | None:
    """A notebook's text with other lines in its code cells, all else of it as it was, to the letter.

    Returns:
        None where a cell would be no Python, or where carriage returns end its lines.
    """
    ordered = sorted(changes, key=lambda change: -change.first)
    spans = list(_sources(document)) if document else []
    for number in sorted({one.cell for one in ordered if one.cell is not None}, reverse=True):
        if number > len(spans):
            return None
        start, end = spans[number - 1]
        of_cell = [change for change in ordered if change.cell == number]
        written = _rewritten(document[start:end], of_cell, ascii_only=document.isascii())
        if written is None:
            return None
        document = document[:start] + written + document[end:]
    return document


def _sources(document: str) -> Iterator[tuple[int, int]]:
    """Where the ``source`` of each code cell stands in a notebook's text."""
    whole = {
        name: span for name, *span in _values(document, _space(document, document[:1] == "\ufeff"))
    }
    for _, start, _ in _values(document, whole["cells"][0]):
        if document[start] != "{":
            continue
        cell = {name: (first, end) for name, first, end in _values(document, start)}
        first, end = cell.get("cell_type", (0, 0))
        if document[first:end] == '"code"':
            yield cell.get("source", (end, end))


def _values(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The values of the object or list that begins there: name (none in a list), start and end."""
    at = _space(text, start + 1)
    while text[at] not in "]}":
        name = ""
        if text[start] == "{":
            name, at = _JSON.raw_decode(text, at)
            at = _space(text, _space(text, at) + 1)  # behind the colon
        _, end = _JSON.raw_decode(text, at)
        yield name, at, end
        at = _space(text, end)
        if text[at] == ",":
            at = _space(text, at + 1)


def _space(text: str, start: int) -> int:
    """Where the next thing stands that is no space."""
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _rewritten(written: str, changes: Sequence[Replacement], *, ascii_only: bool) -> str | None:
    """A cell's source as the notebook writes it, with other lines; those that stay are as they were."""
    value = json.loads(written) if written else None
    text = "".join(map(str, value)) if isinstance(value, list) else value
    if not isinstance(text, str) or "\r" in text:
        return None
    lines = text.split("\n")
    for change in changes:
        lines[change.first - 1 : change.first - 1 + change.removed] = change.lines
    if not any(_python(lines)):
        return None
    if not isinstance(value, list):
        return json.dumps("\n".join(lines), ensure_ascii=ascii_only)
    spans = [(start, end) for _, start, end in _values(written, 0)]
    first, last = spans[0][0], spans[-1][1]
    between = written[spans[0][1] : spans[1][0]] if len(spans) > 1 else f",{written[1:first]}"
    known = {value[n]: written[start:end] for n, (start, end) in enumerate(spans)}
    chunks = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    new = [known.get(one) or json.dumps(one, ensure_ascii=ascii_only) for one in chunks if one]
    return written[:first] + between.join(new) + written[last:]


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
