"""A statement is put into the context that brings what it uses to the accelerator."""

from __future__ import annotations

import ast
import copy

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import line_end, span, statement_of, text_of
from diagnose.fixes.definitions.statements import indentation
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.placement.bringing import forgotten
from diagnose.placement.model import Source, Suspect
from diagnose.placement.walking import walk


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


def entered(suspect: Suspect) -> Change | None:
    """The change that brings a part that was forgotten, as the program's own function brings others of its
    parts to the accelerator for a while; None where the program has no such function.

    Raises:
        Refused: a context stands in the line already that is written over several lines.
    """
    source = suspect.spot.source
    found = forgotten(source, suspect.spot.line)
    if found is None:
        return None
    if not found.entered:
        return replaced(source, found.used, found.brought)
    withs = [one for one in walk(source.tree) if isinstance(one, ast.With)]
    return _entered(source, statement_of(source, found.call), found.brought, withs)


def _entered(source: Source, statement: ast.stmt, context: str, withs: list[ast.With]) -> Change:
    """A statement that enters a context, with those that it stands in already."""
    around = [one for one in withs if any(each is statement for each in walk(one))]
    if not around:
        return inside(source, statement, context)
    outer = max(around, key=lambda one: one.lineno)
    last = outer.items[-1]
    if last.optional_vars is not None or last.context_expr.end_lineno != outer.lineno:
        raise Refused("the contexts run over several lines, or are bound to names")
    _, end = span(source, last.context_expr)
    made = copy.deepcopy(outer)
    made.items.append(ast.withitem(ast.parse(context, mode="eval").body))
    return Change((Splice(end, end, f", {context}"),), outer, (made,))


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
    withs = (one for one in walk(tree) if isinstance(one, ast.With))
    return any(item.context_expr is node for one in withs for item in one.items)
