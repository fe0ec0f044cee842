"""Where the nodes of a file stand: their characters, and what they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.fixes.file_gate import line_of, offset_of_line
from diagnose.fixes.line_gate import Refused
from diagnose.placement.model import Source
from diagnose.placement.semantics import around, path_to


def span(source: Source, node: ast.AST) -> tuple[int, int]:
    """Start and end of a node in the text of its file, in characters. Raises `Refused` for one without."""
    line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if line is None or end_line is None:
        raise Refused("what is to change has no place of its own in the file")
    return (
        _offset(source, line, node.col_offset),  # type: ignore[attr-defined]
        _offset(source, end_line, node.end_col_offset),  # type: ignore[attr-defined]
    )


def _offset(source: Source, line: int, column: int) -> int:
    """From a line and a column in bytes of UTF-8, as `ast` counts, to characters."""
    text = source.lines[line - 1]
    characters = column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
    return offset_of_line(source, line) + characters


def text_of(source: Source, node: ast.AST) -> str:
    """A node as it is written."""
    start, end = span(source, node)
    return source.text[start:end]


def ancestors(source: Source, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, outermost first, itself last. Raises `Refused` where it is not in the file."""
    if path := path_to(source.tree, node):
        return path
    raise Refused("what is to change is not in the file")


def statement_of(source: Source, node: ast.AST) -> ast.stmt:
    """The innermost statement that a node stands in."""
    for outer in reversed(ancestors(source, node)):
        if isinstance(outer, ast.stmt):
            return outer
    raise Refused("what is to change stands in no statement")


def statements_around(source: Source, statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement and those that it stands in, as far as its function."""
    for outer in reversed(ancestors(source, statement)):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            return
        if isinstance(outer, ast.stmt):
            yield outer


def block_of(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement stands in."""
    outer = ancestors(source, statement)[-2]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(outer, field, None)
        if isinstance(block, list) and any(one is statement for one in block):
            return block
    raise Refused("the statement stands in no block")


def functions_around(source: Source, node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that a node stands in, innermost first."""
    defines = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [a for a in reversed(ancestors(source, node)[:-1]) if isinstance(a, defines)]


def class_around(source: Source, node: ast.AST) -> ast.ClassDef | None:
    """The innermost class that a node stands in."""
    return next(around(source.tree, node, ast.ClassDef), None)


def line_end(source: Source, offset: int) -> str:
    """How the line of an offset ends: as most editors, a new line ends as its neighbour does."""
    line = source.lines[line_of(source, offset) - 1]
    return "\r\n" if line.endswith("\r") else "\n"
