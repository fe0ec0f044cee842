"""What comes in the wrong order: a move before the last layer is put, an optimizer before the move."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from diagnose.fixes.definitions.moving import MOVES, module
from diagnose.fixes.definitions.nodes import (
    after_statement,
    before_statement,
    block_of,
    functions_around,
    moved_statement,
    span,
    statement_of,
    target_device,
    text_of,
    walk_calls,
)
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Source, Suspect
from diagnose.scene import sourceline


class _Move(NamedTuple):
    """A call such as ``model.to(device)``, its statement, and whether that does nothing else."""

    owner: str
    method: str
    statement: ast.stmt
    alone: bool


def move_last(suspect: Suspect) -> Sequence[Change]:
    """The model is moved after its last change: the statement that moves it is, or it is moved once more.
    Where no earlier move is known, the new layer itself is moved."""
    source = suspect.spot.source
    changed = statement_of(source, suspect.spot.node)
    move = _move(suspect)
    if move is None:
        if suspect.owner is None:
            return module(suspect)
        again = f"{suspect.owner}.to({target_device(suspect)})"
        return [after_statement(source, changed, again)]
    last = _last_change(source, changed, move.owner)
    if move.alone and _precedes(source, move.statement, last):
        between = _between(source, move.statement, last)
        if not any(_runs(one, move.owner) for one in between):
            return moved_statement(source, move.statement, last, after=True)
    return [after_statement(source, last, f"{move.owner}.{move.method}")]


def move_first(suspect: Suspect) -> Sequence[Change]:
    """The model is moved before the optimizer is made."""
    source = suspect.spot.source
    made = statement_of(source, suspect.spot.node)
    move = _move(suspect)
    if move is None:
        if suspect.owner is None:
            raise Refused("it is not known which model the optimizer is of")
        first = f"{suspect.owner}.to({target_device(suspect)})"
        return [before_statement(source, made, first)]
    if move.alone and _precedes(source, made, move.statement):
        return moved_statement(source, move.statement, made, after=False)
    return [before_statement(source, made, f"{move.owner}.{move.method}")]


def move_state(suspect: Suspect) -> Sequence[Change]:
    """The state that was loaded into an optimizer is moved to the parameters' device."""
    source = suspect.spot.source
    loaded = statement_of(source, suspect.spot.node)
    calls = [c for c in walk_calls(loaded) if isinstance(c.func, ast.Attribute)]
    owners = [
        text_of(source, c.func.value)
        for c in calls
        if isinstance(c.func, ast.Attribute) and c.func.attr == "load_state_dict"
    ]
    if len(owners) != 1 or not isinstance(loaded, ast.Expr):
        raise Refused("the statement does not load the state of one optimizer")
    device = target_device(suspect)
    code = (
        f"for state in {owners[0]}.state.values():\n"
        f"    for key, value in state.items():\n"
        f'        if key != "step" and hasattr(value, "to"):\n'
        f"            state[key] = value.to({device})"
    )
    return [after_statement(source, loaded, code)]


def _move(suspect: Suspect) -> _Move | None:
    """The earlier or later move of the model, if it stands in the function of the spot."""
    source, spot = suspect.spot.source, suspect.move
    if spot is None or spot.file != source.path:
        return None
    call = spot.node.value if isinstance(spot.node, (ast.Expr, ast.Assign)) else spot.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr not in MOVES:
        return None
    if functions_around(source, call)[:1] != functions_around(source, suspect.spot.node)[:1]:
        return None
    statement = statement_of(source, call)
    owner, alone = sourceline.dotted(call.func.value), False
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and statement.value is call
    ):
        target = sourceline.dotted(statement.targets[0])
        alone, owner = owner is not None and owner == target, target
    elif isinstance(statement, ast.Expr):
        alone = statement.value is call and owner is not None
    if owner is None:
        return None
    end = span(source, call.func)[1]
    method = source.text[end - len(call.func.attr) : span(source, call)[1]]
    if "\n" in method:
        raise Refused("the move runs over several lines")
    return _Move(owner, method, statement, alone)


def _last_change(source: Source, changed: ast.stmt, owner: str) -> ast.stmt:
    """The last statement of the block, from a change on, that puts something into the model."""
    block = block_of(source, changed)
    position = next(i for i, one in enumerate(block) if one is changed)
    last = changed
    for one in block[position + 1 :]:
        if _runs(one, owner):
            break
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            targets = [sourceline.dotted(target) or "" for target in one.targets]
            if any(target.startswith(f"{owner}.") for target in targets):
                last = one
    return last


def _precedes(source: Source, first: ast.stmt, second: ast.stmt) -> bool:
    block = block_of(source, first)
    return any(one is second for one in block) and first.lineno < second.lineno


def _between(source: Source, first: ast.stmt, last: ast.stmt) -> list[ast.stmt]:
    return [one for one in block_of(source, first) if first.lineno < one.lineno <= last.lineno]


def _runs(statement: ast.stmt, owner: str) -> bool:
    """Whether a statement calls the model."""
    return any(sourceline.dotted(call.func) == owner for call in walk_calls(statement))


KINDS = {
    "reorder-move-after-build": move_last,
    "rebuild-optimizer": move_first,
    "move-optimizer-state": move_state,
}
