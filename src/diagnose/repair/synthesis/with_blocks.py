"""Edits that do in one place what the program does elsewhere around the same call: a ``with`` block that
brings a model to a GPU and puts it away afterwards."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

from diagnose.fixes.codemods.statements import inside
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement.semantics import calls, holds, names, nodes
from diagnose.repair.synthesis.transfers import Move, own_spots

#: Of a program that has functions of its own to bring a part to a GPU and put it away.
CAUSE = "low-memory-mode"


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
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            continue
        for twin in nodes(spot.source.tree, ast.With):
            known = not holds(twin, node) and _known(twin, frame)
            if known and _calls(twin, ast.unparse(node.func)):
                with suppress(Refused):
                    contexts = ", ".join(ast.unparse(one.context_expr) for one in twin.items)
                    edit = file_edit(spot.source, [inside(spot.source, statement, contexts)])
                    yield Move("other", edit, cause=CAUSE, says="as-elsewhere")


def _calls(block: ast.With, func: str) -> bool:
    """Whether a block, entered by calls of the program's own alone, calls what is told by an expression."""
    entered = [one.context_expr for one in block.items]
    own = [
        ast.unparse(one.func).partition(".")[0] != "torch"
        for one in entered
        if isinstance(one, ast.Call)
    ]
    if len(own) < len(entered) or not all(own):
        return False
    return any(ast.unparse(one.func) == func for part in block.body for one in calls(part))


def _known(block: ast.With, frame: FrameType) -> bool:
    """Whether all names that a block is entered with mean something in a function."""
    return all(
        name in frame.f_locals or name in frame.f_globals or hasattr(builtins, name)
        for one in block.items
        for name in names(one.context_expr)
    )
