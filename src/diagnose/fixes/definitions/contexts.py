"""A statement is put into the context that brings what it uses to the accelerator."""

from __future__ import annotations

import ast
import copy

from diagnose.fixes.definitions.places import line_end, span, statement_of, text_of
from diagnose.fixes.definitions.statements import indentation
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.placement.model import Source, Suspect


def within(suspect: Suspect) -> Change | None:
    """The change of a statement to the body of a ``with``; None where no other stands in such a one.

    Raises:
        Refused: the statement is of several lines, or the context is of another file.
    """
    source, context = suspect.spot.source, suspect.move
    if context is None or not _is_context(context.source.tree, context.node):
        return None
    statement = statement_of(source, suspect.spot.node)
    if context.file != source.path or statement.end_lineno != statement.lineno:
        raise Refused("the statement runs over several lines, or the context is of another file")
    return inside(source, statement, text_of(source, context.node))


def inside(source: Source, statement: ast.stmt, contexts: str) -> Change:
    """The change that puts a statement into a ``with`` of its own, which enters some contexts."""
    indent = indentation(source, statement)
    start, end = span(source, statement)
    rows = source.text[start:end].splitlines(keepends=True)
    body = "".join(f"    {row}" if row.strip() else row for row in rows)
    text = f"with {contexts}:{line_end(source, start)}{indent}{body}"
    made = ast.parse(f"with {contexts}: ...").body[0]
    assert isinstance(made, ast.With)
    made.body = [copy.deepcopy(statement)]
    return Change((Splice(start, end, text),), statement, (made,))


def _is_context(tree: ast.Module, node: ast.AST) -> bool:
    withs = (one for one in ast.walk(tree) if isinstance(one, ast.With))
    return any(item.context_expr is node for one in withs for item in one.items)
