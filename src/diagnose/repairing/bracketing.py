"""Edits that do in one place what the program does elsewhere around the same call: a ``with`` block that
brings a model to a GPU and puts it away afterwards."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

from diagnose.fixes.definitions.places import line_end, span
from diagnose.fixes.definitions.statements import indentation
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.rewriting import Change, Splice, offset_of_line
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.repairing.moving import Move, own_spots


def bracketing(error: BaseException) -> Iterator[Move]:
    """The edits, for each of the program's running calls, innermost first.

    Args:
        error: a live failure.
    """
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        text, node = texts.of(spot.file), spot.node
        if text is None or not isinstance(node, ast.Call):
            continue
        statement = text.statement(node)
        around = [one for one in ast.walk(spot.source.tree) if isinstance(one, ast.With)]
        around = [one for one in around if not any(inner is node for inner in ast.walk(one))]
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            continue
        for twin in around:
            if _calls(twin, ast.unparse(node.func)) and _known(twin, frame):
                with suppress(Refused):
                    edit = file_edit(spot.source, [_within(spot.source, statement, twin.items)])
                    yield Move("other", edit, cause="low-memory-mode", says="as-elsewhere")


def _calls(block: ast.With, func: str) -> bool:
    """Whether a block, entered by calls alone, calls what is told by an expression."""
    if not all(isinstance(one.context_expr, ast.Call) for one in block.items):
        return False
    calls = (n for part in block.body for n in ast.walk(part) if isinstance(n, ast.Call))
    return any(ast.unparse(one.func) == func for one in calls)


def _known(block: ast.With, frame: FrameType) -> bool:
    """Whether all names that a block is entered with mean something in a function."""
    names = {
        node.id
        for one in block.items
        for node in ast.walk(one.context_expr)
        if isinstance(node, ast.Name)
    }
    return all(
        name in frame.f_locals or name in frame.f_globals or hasattr(builtins, name)
        for name in names
    )


def _within(source: Source, statement: ast.stmt, items: list[ast.withitem]) -> Change:
    """The change that puts a statement into a block of its own."""
    indent = indentation(source, statement)
    start = offset_of_line(source, statement.lineno)
    end = span(source, statement)[1]
    ending = line_end(source, start)
    entered = [ast.withitem(context_expr=one.context_expr) for one in items]
    header = f"{indent}with {', '.join(ast.unparse(one) for one in entered)}:{ending}"
    body = "".join(
        f"    {row}" if row.strip() else row
        for row in source.text[start:end].splitlines(keepends=True)
    )
    made = ast.With(items=entered, body=[copy.copy(statement)])  # it holds the node as it was
    return Change((Splice(start, end, f"{header}{body}"),), statement, (made,))
