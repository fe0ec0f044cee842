"""Printed source as a syntax tree: tracebacks show a line or a few, often only a part of a statement.

CPython's carets underline which part of it failed.
"""

from __future__ import annotations

import ast
import builtins
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from diagnose.model import Carets
from diagnose.placement.semantics import arguments, nodes

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_MAX_LENGTH = 2000  # of a line; a statement may have several
_MAX_LINES = 40
_PRINTED = "<printed line>"

# What Python thinks of a stranger's line ("invalid escape sequence") is nothing to tell the reader of an
# answer. A filter for this name alone, rather than `catch_warnings`, which is not for threads.
warnings.filterwarnings("ignore", module=_PRINTED)


class Reading(NamedTuple):
    """What makes a part of a statement parse: text put before and after it, in which C stands for the
    brackets that it leaves open, and how many characters of it are left out at its beginning."""

    before: str = ""
    after: str = ""
    cut: int = 0


class SourceLine(NamedTuple):
    """Parsed source: the text, its tree, and the reading in which it parses.

    ``text`` is one line without its indentation, or the lines of one statement. Offsets are characters
    of ``text``. ``nodes`` are those that stand in the text itself, outermost first.
    """

    text: str
    tree: ast.Module
    reading: Reading
    nodes: tuple[ast.AST, ...] = ()

    def segment(self, node: ast.expr) -> str:
        """The text of ``node`` as it stands in the line."""
        start, end = self.span(node)
        return self.text[start:end]

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """Start and end of ``node`` in ``text``."""
        start, end = self._extent(node)
        # What was put after the line to make it parse may belong to a node.
        return start, min(end, len(self.text))

    def whole(self, node: ast.expr | ast.keyword) -> bool:
        """True where all of ``node`` stands in the text, none of it put there to make it parse."""
        start, end = self._extent(node)
        return 0 <= start < end <= len(self.text)

    def settled(self, start: int, end: int) -> bool:
        """True where nothing that was cut off can change what characters ``start`` to ``end`` are: all of a
        line whose brackets are closed; else what stands between closed ones or before a comma."""
        if "C" not in self.reading.after:
            return True  # it parses as it stands
        return any(first <= start and end <= last for first, last in _settled(self.text))

    def _extent(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        if last == 1 and self.text.isascii():
            shift = len(self.reading.before) - self.reading.cut
            return node.col_offset - shift, end - shift
        return self._offset(node.lineno, node.col_offset), self._offset(last, end)

    def _offset(self, line: int, column: int) -> int:
        """From a line of the tree and a column in bytes of UTF-8 to an offset of ``text``."""
        lines = self.text.split("\n")
        if line > len(lines):
            return len(self.text) + 1
        offset = sum(len(text) + 1 for text in lines[: line - 1])
        parsed = lines[line - 1]
        if line == 1:
            offset += self.reading.cut - len(self.reading.before)
            parsed = self.reading.before + parsed[self.reading.cut :]
        encoded = parsed.encode(errors="replace")
        # Columns beyond the text belong to what was put there to make it parse.
        beyond = max(0, column - len(encoded))
        return offset + len(encoded[:column].decode(errors="replace")) + beyond


_READINGS = tuple(
    Reading(before, after)
    for before, after in (
        ("", ""),
        ("", " pass"),
        ("", "C"),
        ("", "_C"),
        ("", "C: pass"),
        ("", "_C: pass"),
        ("_(", "C)"),
        ("_(_ ", "C)"),
        ("(_ if _ ", "C)"),
    )
)
#: Several lines are the whole of what failed, or the part of an expression between its brackets.
_READINGS_OF_LINES = tuple(
    Reading(before, after)
    for before, after in (("", ""), ("", " pass"), ("", "C"), ("(", ")"), ("_(", ")"))
)


@lru_cache(maxsize=256)
def parse(code: str | None) -> SourceLine | None:
    """Parses a printed line or the lines of a statement; None where no reading of it is Python.

    Incomplete statements are completed: open brackets are closed, a compound statement gets a body,
    a lone argument is put into a call, ``elif`` is read as ``if``. The line is only parsed, never
    compiled or run.
    """
    text = (code or "").strip()
    lines = text.count("\n") + 1
    if not text or lines > _MAX_LINES or len(text) > _MAX_LENGTH * min(lines, 4):
        return None
    cut = 2 if text.startswith("elif ") else 0
    for reading in _READINGS if lines == 1 else _READINGS_OF_LINES:
        reading = reading._replace(cut=cut)
        tree = read(text, reading)
        if tree is None or (lines > 1 and len(tree.body) != 1):
            continue
        line = SourceLine(text, tree, reading)
        return line._replace(nodes=tuple(_standing(line)))
    return None


def read(text: str, reading: Reading) -> ast.Module | None:
    """The tree of a text in one of the readings that `parse` tries; None where that is no Python."""
    closers = _missing_closers(text)
    if closers and "#" in text:
        closers = f"\n{closers}"  # a comment would swallow them
    after = reading.after.replace("C", closers)
    try:
        return ast.parse(f"{reading.before}{text[reading.cut :]}{after}", filename=_PRINTED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _standing(line: SourceLine) -> Iterator[ast.AST]:
    """The nodes without those that were put there to make the line parse."""
    for node in ast.walk(line.tree):
        if not isinstance(node, ast.expr):
            yield node
        else:
            start, end = line.span(node)
            if 0 <= start < end <= len(line.text):
                yield node


def _missing_closers(text: str) -> str:
    """The brackets that would close what ``text`` leaves open."""
    return "".join(reversed([_CLOSERS[opened] for opened, *_ in _brackets(text)[0]]))


def _settled(text: str) -> list[tuple[int, int]]:
    """The spans that nothing can change which stands behind the text."""
    opened, closed = _brackets(text)
    if not opened:
        return [(0, len(text))]
    return closed + [(start, comma) for _, start, comma in opened]


_Opened = list[tuple[str, int, int]]


def _brackets(text: str) -> tuple[_Opened, list[tuple[int, int]]]:
    """The brackets that a text leaves open, with where each stands and its last comma, and the spans of
    those that it closes; strings are skipped roughly."""
    opened, closed, quote = _Opened(), list[tuple[int, int]](), ""
    for at, character in enumerate(text):
        if quote:
            if character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "#":
            break
        elif character in _CLOSERS:
            opened.append((character, at, at))
        elif opened and character == ",":
            opened[-1] = (*opened[-1][:2], at)
        elif opened and character == _CLOSERS[opened[-1][0]]:
            closed.append((opened.pop()[1], at))
    return opened, closed


def is_builtin(name: str) -> bool:
    """True for names of the builtins module, which are no operands; ``input`` is what torch and its users
    call a tensor."""
    return hasattr(builtins, name) and name != "input"


def operands(line: SourceLine, nodes: Sequence[ast.AST] | None = None) -> list[ast.expr]:
    """The expressions that meet in the operation of a line (or of a part of it), left to right: both
    sides of a binary operator or in-place assignment, the arguments of a call, the elements of a list
    that is joined."""
    best: list[ast.expr] = []
    for node in line.nodes if nodes is None else nodes:
        if isinstance(node, ast.AugAssign):
            return [node.target, node.value]
        if isinstance(node, ast.BinOp) and not best:
            best = [node.left, node.right]
        elif isinstance(node, ast.Compare) and not best:
            best = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and not best:
            listed = node.args[0] if node.args else None
            if isinstance(listed, (ast.List, ast.Tuple)):
                best = list(listed.elts)
            elif len(arguments(node)) > 1:
                best = arguments(node)
    return best


def failing(line: SourceLine, carets: Carets | None) -> ast.AST | None:
    """What the carets underline: the outermost node that stands just there; None where none does."""
    if carets is None:
        return None
    starts = [0, *accumulate(len(text) + 1 for text in line.text.split("\n"))]
    if carets.end_line >= len(starts) - 1:
        return None
    rows = line.text.split("\n")
    for read_as in (_characters,) if line.text.isascii() else (_characters, _columns):
        start = starts[carets.line] + read_as(rows[carets.line], carets.column)
        end = starts[carets.end_line] + read_as(rows[carets.end_line], carets.end)
        for node in line.nodes:
            if isinstance(node, ast.expr) and line.span(node) == (start, end):
                return node
    return None


def outermost(line: SourceLine) -> ast.AST | None:
    """The operation that takes all of a line: an in-place statement, or one expression."""
    first = next(iter(line.tree.body), None)  # none in a comment
    if not line.reading.before and isinstance(first, ast.AugAssign):
        return first
    whole = (0, len(line.text))
    return next((n for n in line.nodes if isinstance(n, ast.expr) and line.span(n) == whole), None)


def inside(line: SourceLine, part: ast.AST | None) -> tuple[ast.AST, ...]:
    """The line's nodes within a part of it; all for None."""
    if part is None:
        return line.nodes
    within = set(nodes(part, ast.AST))
    return tuple(node for node in line.nodes if node in within)


def _characters(text: str, column: int) -> int:
    return column


def _columns(text: str, column: int) -> int:
    """The offset of a column of the terminal: wide characters take two."""
    taken = 0
    for offset, character in enumerate(text):
        if taken >= column:
            return offset
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return len(text)
