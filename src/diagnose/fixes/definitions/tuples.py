"""Where one statement moves several and hands another on: ``a, b = a.to(device), b``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.definitions.expressions import around
from diagnose.fixes.definitions.moving import is_moved, same_move
from diagnose.fixes.definitions.places import span
from diagnose.fixes.definitions.statements import statements
from diagnose.fixes.rewriting import Change, Splice
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect


def moved_in_tuple(suspect: Suspect, statement: ast.Assign, torch: TorchNames) -> Change | None:
    """The change by which a statement moves what it hands on beside others that it moves; None for other
    statements, or where it hands on several and not the suspect's own."""
    source = suspect.spot.source
    moves = [value for _, value in _pairs(statement) if is_moved(value, torch)]
    left = [name for name, value in _pairs(statement) if ast.unparse(value) == name]
    if suspect.name in left:
        left = [suspect.name]
    if not moves or len(left) != 1 or not isinstance(moves[0], ast.Call):
        return None
    return in_tuple(source, statement, left, same_move(source, moves[0]))


def moved_whole(suspect: Suspect, statement: ast.Assign, torch: TorchNames) -> Change | None:
    """``data.x, data.y = data.x.to(device), data.y.to(device)`` becomes ``data = data.to(device)``, which
    forgets no field; None for other statements."""
    source = suspect.spot.source
    pairs = list(_pairs(statement))
    owners = {name.rpartition(".")[0] for name, _ in pairs}
    moves = {
        same_move(source, value)
        for name, value in pairs
        if isinstance(value, ast.Call) and is_moved(value, torch)
        if isinstance(value.func, ast.Attribute) and ast.unparse(value.func.value) == name
    }
    [owner] = owners if len(owners) == 1 else {""}
    if not owner.isidentifier() or owner == "self" or len(moves) != 1:
        return None
    if not all(is_moved(value, torch) for _, value in pairs):
        return None
    code = f"{owner} = {owner}{moves.pop()}"
    start, end = span(source, statement)
    return Change((Splice(start, end, code),), statement, statements(code))


def in_tuple(source: Source, statement: ast.stmt, left: Sequence[str], move: str) -> Change | None:
    """The change that moves the one name that a statement hands on as it is; None where it does not."""
    for name, value in _pairs(statement):
        if [name] == list(left) and ast.unparse(value) == name:
            return around(source, value, "", move)
    return None


def _pairs(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """What a statement gives several names, each with its name."""
    match statement:
        case ast.Assign(
            targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)],
            value=ast.Tuple(elts=values) | ast.List(elts=values),
        ) if len(targets) == len(values):
            for target, value in zip(targets, values, strict=True):
                yield ast.unparse(target), value
