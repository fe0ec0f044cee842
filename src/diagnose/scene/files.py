"""Whole statements with their indentation, from a frame's file; parsed, never run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from diagnose.bulkhead import guarded
from diagnose.model import Carets, Frame, Statement, indentation
from diagnose.scene import sourceline
from diagnose.sources import SourceFile, Sources

#: Of a larger file only the line itself is used: parsing it would take longer than all of the answer.
_LARGEST_PARSED = 250_000
_AROUND = 3


def with_lines(sources: Sources, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames; those of the user's own whose line was not printed have it from their file."""
    sources.about(frames)

    def told(frame: Frame) -> Frame:
        file = sources.of(frame) if frame.own and not frame.code else None
        if file is None or frame.line is None:
            return frame
        return frame._replace(code=file.lines[frame.line - 1].strip())

    return tuple(guarded("sources", partial(told, frame), frame) for frame in frames)


def statement(frame: Frame, file: SourceFile) -> Statement | None:
    """The whole statement of a frame in its file.

    None for the last line of a file that does not end in a line feed: no diff of it would apply.

    Args:
        frame: a frame of a report.
        file: the file in which its line stands.
    """
    lines = file.lines
    if frame.line is None or frame.line >= len(lines):
        return None
    first, last = _extent(lines, frame.line)
    text = _text(lines, first, last)
    if sourceline.parse(text) is None:
        first = last = frame.line
        text = _text(lines, first, last)
    return Statement(
        text=text,
        line=first,
        carets=_carets(frame, lines, first),
        raw=tuple(lines[first - 1 : last]),
        above=tuple(lines[max(0, first - 1 - _AROUND) : first - 1]),
        below=tuple(lines[last : min(last + _AROUND, len(lines) - 1)]),
    )


def _text(lines: Sequence[str], first: int, last: int) -> str:
    """The lines of a statement without the first one's indentation."""
    return "\n".join(line.removesuffix("\r") for line in lines[first - 1 : last]).strip()


def _extent(lines: Sequence[str], number: int) -> tuple[int, int]:
    """First and last line of the statement that a line belongs to; of a compound one its header."""
    if sum(map(len, lines)) > _LARGEST_PARSED:
        return number, number
    try:
        body: Sequence[ast.AST] = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return number, number
    while (found := _holding(body, number)) is not None:
        last = getattr(found, "end_lineno", number)
        blocks = _blocks(found)
        if not blocks:
            return getattr(found, "lineno", number), last
        first = min(getattr(node, "lineno", number) for node in blocks)
        if getattr(found, "lineno", number) <= number < first and not isinstance(found, _DEFINES):
            return getattr(found, "lineno", number), first - 1
        body = blocks
    return number, number


_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _holding(body: Sequence[ast.AST], number: int) -> ast.AST | None:
    """The statement or handler that a line stands in."""
    for node in body:
        if getattr(node, "lineno", 0) <= number <= getattr(node, "end_lineno", 0):
            return node
    return None


def _blocks(node: ast.AST) -> list[ast.AST]:
    """What stands in the blocks of a compound statement."""
    names = ("body", "orelse", "finalbody", "handlers", "cases")
    return [inner for name in names for inner in getattr(node, name, ())]


def _carets(frame: Frame, lines: Sequence[str], first: int) -> Carets | None:
    """The carets' place in the statement of the file."""
    printed = frame.statement
    if printed is None or printed.carets is None or frame.line is None:
        return None
    carets, rows = printed.carets, printed.text.split("\n")
    offset = frame.line - first

    def column(row: int, printed_column: int) -> int | None:
        at = frame.line - 1 + row if frame.line is not None else 0
        if row >= len(rows) or at >= len(lines) or lines[at].strip() != rows[row].strip():
            return None
        moved = indentation(lines[at]) - indentation(rows[row])
        stripped = indentation(lines[first - 1]) if offset + row == 0 else 0
        return printed_column + moved - stripped

    start, end = column(carets.line, carets.column), column(carets.end_line, carets.end)
    if start is None or end is None:
        return None
    return Carets(carets.line + offset, start, carets.end_line + offset, end)
