"""What was forgotten where a library prepares the rest is prepared with it."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.expressions import expression
from diagnose.fixes.codemods.positions import span, statement_of, text_of
from diagnose.fixes.codemods.statements import after_statement
from diagnose.fixes.file_gate import Change, Splice
from diagnose.placement.model import Source
from diagnose.placement.semantics import assigned, scope_of


def prepared(source: Source, call: ast.Call, owner: str) -> Change:
    """``a, b = library.prepare(a, b)`` with one more on both sides; a statement of its own behind it where
    the call gives something else back than each of what it takes.

    Args:
        source: the file.
        call: prepares the others.
        owner: the expression that was forgotten.
    """
    statement = statement_of(source, call)
    targets = _targets(statement, call)
    if targets is None or not _known_before(source, statement, owner):
        code = f"{owner} = {text_of(source, call.func)}({owner})"
        return after_statement(source, statement, code)
    at = _place(call.args, owner)
    splices = tuple(
        Splice(end, end, f", {owner}")
        for end in (span(source, targets[at])[1], span(source, call.args[at])[1])
    )
    return Change(splices, statement, (_with(targets, call, at, owner),))


def _targets(statement: ast.stmt, call: ast.Call) -> list[ast.expr] | None:
    """The names that get what the call gives, one for each that it takes."""
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    if len(statement.targets) > 1 or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    target = statement.targets[0]
    found = target.elts if isinstance(target, ast.Tuple) else [target]
    plain = all(isinstance(one, ast.Name | ast.Attribute) for one in found)
    return found if plain and found and len(found) == len(call.args) else None


def _known_before(source: Source, statement: ast.stmt, owner: str) -> bool:
    """Whether nothing gives the forgotten one its value only after the statement."""
    bound = assigned(scope_of(source.tree, statement), owner)
    return all(one.lineno <= statement.lineno for one in bound)


def _place(given: list[ast.expr], owner: str) -> int:
    """Behind what is called alike, ``eval_loader`` behind ``train_loader``; else behind all."""
    kind = owner.rpartition("_")[2]
    alike = [at for at, one in enumerate(given) if ast.unparse(one).rpartition("_")[2] == kind]
    return alike[-1] if alike else len(given) - 1


def _with(targets: list[ast.expr], call: ast.Call, at: int, owner: str) -> ast.Assign:
    more = expression(owner)
    stored = expression(owner)
    stored.ctx = ast.Store()  # type: ignore[attr-defined]
    names = [*targets[: at + 1], stored, *targets[at + 1 :]]
    given = [*call.args[: at + 1], more, *call.args[at + 1 :]]
    value = ast.Call(call.func, given, call.keywords)
    return ast.Assign([ast.Tuple(names, ast.Store())], value)
