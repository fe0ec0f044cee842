"""Which part of a parsed line failed: what CPython's carets underline."""

from __future__ import annotations

import ast
import unicodedata
from itertools import accumulate

from diagnose.model import Carets
from diagnose.placement.semantics import nodes
from diagnose.scene.sourceline import SourceLine


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
