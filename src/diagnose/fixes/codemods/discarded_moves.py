"""A move whose result is dropped, ``x.to(device)`` alone: it gets the name that it is to have."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.expressions import expression, replaced, with_method
from diagnose.fixes.codemods.positions import ancestors, span, text_of
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import EventKind
from diagnose.placement.model import Suspect
from diagnose.placement.semantics import called, names, scope_of


def is_dropped(suspect: Suspect) -> bool:
    """Whether a suspect is a move whose result is dropped."""
    return any(
        step.what == EventKind.DROPPED and step.spot == suspect.spot for step in suspect.steps
    )


def kept(suspect: Suspect, statement: ast.Expr | ast.Assign) -> list[Change]:
    """``x.to(device)`` alone moves nothing: its result gets the name, or the place in the dict of which a
    loop has taken it."""
    source, call = suspect.spot.source, statement.value
    if isinstance(statement, ast.Assign):
        return [_put_back(suspect, statement)]
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    owner = call.func.value
    if not isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
        raise Refused("what is moved has no name")
    loop, name = ancestors(source, statement)[-2], text_of(source, owner)
    if isinstance(loop, ast.For | ast.AsyncFor) and name in names(loop.target):
        later = [one for one in loop.body if one.lineno > statement.lineno]
        if not any(name in names(one) for one in later):
            return _kept_in_dict(suspect, statement, loop)
    start = span(source, statement)[0]
    becomes = ast.Assign([owner], call)
    return [Change((Splice(start, start, f"{name} = "),), statement, (becomes,))]


def _put_back(suspect: Suspect, statement: ast.Assign) -> Change:
    """``for k, v in d.items(): v = v.to(device)`` loses all it moves; ``d[k] = v.to(device)`` does not."""
    source, target = suspect.spot.source, statement.targets[0]
    for around in reversed(ancestors(source, statement)):
        match around:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=name)]),
                iter=ast.Call(func=ast.Attribute(value=held, attr="items"), args=[]),
            ) if isinstance(target, ast.Name) and target.id == name:
                return replaced(source, target, f"{text_of(source, held)}[{key}]")
    raise Refused("the loop's variable is not used after it is moved")


def _kept_in_dict(
    suspect: Suspect, statement: ast.Expr, loop: ast.For | ast.AsyncFor
) -> list[Change]:
    """``for v in d.values(): v.to(device)`` loses all it moves; the dict gets it under its key."""
    source, looped = suspect.spot.source, loop.iter
    scope = scope_of(source.tree, statement)
    if (
        called(looped) != "values"
        or not isinstance(looped, ast.Call)
        or not isinstance(looped.func, ast.Attribute)
        or not isinstance(loop.target, ast.Name)
        or "key" in names(scope)
    ):
        raise Refused("the loop's variable is not used after it is moved")
    held = text_of(source, looped.func.value)
    start = span(source, statement)[0]
    kept = ast.Assign([expression(f"{held}[key]")], statement.value)
    return [
        Change((Splice(start, start, f"{held}[key] = "),), statement, (kept,)),
        replaced(source, loop.target, f"key, {loop.target.id}"),
        with_method(source, looped, "items()"),
    ]
