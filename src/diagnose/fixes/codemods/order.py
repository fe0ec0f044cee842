"""What comes in the wrong order: a move before the last layer is put, an optimizer before the move."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from diagnose.fixes.codemods.expressions import around
from diagnose.fixes.codemods.optimizers import behind, is_late_move, put_for, remade, remembered
from diagnose.fixes.codemods.positions import (
    block_of,
    functions_around,
    span,
    statement_of,
    text_of,
)
from diagnose.fixes.codemods.statements import (
    after_statement,
    before_statement,
    moved_statement,
    without_statement,
)
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.codemods.transfers import module, receiver
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import assigned, bindings, calls, dotted, mentions, scope_of


class _Move(NamedTuple):
    """A call such as ``model.to(device)``, its statement, and whether that does nothing else."""

    owner: str
    method: str
    statement: ast.stmt
    alone: bool


def move_last(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """The model is moved after its last change: the statement that moves it is, or it is moved once more.
    Where no earlier move is known, the new layer itself is moved."""
    if suspect.cause == "optimizer-state" and (changes := _moved_when_built(suspect, torch)):
        return changes
    if suspect.cause == "optimizer-state" and (is_late_move(suspect, torch) or put_for(suspect)):
        raise Refused("the model is not moved too early")
    source = suspect.spot.source
    changed = statement_of(source, suspect.spot.node)
    move = _move(suspect, torch)
    if move is None:
        call = changed.value if isinstance(changed, ast.Expr) else None
        if suspect.cause == "optimizer-state" and suspect.owner is not None:
            raise Refused("the model is to move before the optimizer is made")
        owner = suspect.owner or (receiver(call) if call is suspect.spot.node and call else None)
        if owner is None:
            if suspect.cause == "optimizer-state" and model_of(changed) is not None:
                raise Refused("an optimizer has no .to")
            return module(suspect, torch)
        again = f"{owner}.to({target_device(suspect)})"
        return [after_statement(source, changed, again)]
    if suspect.cause == "optimizer-state" and _precedes(source, changed, move.statement):
        raise Refused("the model is to move before the state of its optimizer is loaded")
    last = _last_change(source, changed, move.owner)
    if last is changed and _is_put(changed, suspect, move) and _can_move(suspect, torch):
        raise Refused("the one new layer can be moved itself")
    if move.alone and _precedes(source, move.statement, last):
        between = _between(source, move.statement, last)
        if not any(_runs(one, move.owner) for one in between):
            return moved_statement(source, move.statement, last, after=True)
    return [after_statement(source, last, f"{move.owner}.{move.method}")]


def _is_put(changed: ast.stmt, suspect: Suspect, move: _Move) -> bool:
    """Whether a statement puts what it builds into the model, or in its place."""
    if not isinstance(changed, ast.Assign) or changed.value is not suspect.spot.node:
        return False
    target = changed.targets[0]
    return not isinstance(target, ast.Name) or target.id == move.owner


def _can_move(suspect: Suspect, torch: TorchNames) -> bool:
    """Whether what a suspect comes from can be moved where it is built."""
    try:
        module(suspect, torch)
    except Refused:
        return False
    return True


def move_first(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """The model is moved before the optimizer is made, or that is made behind the move."""
    if changes := _moved_when_built(suspect, torch) or remade(suspect, torch):
        return changes
    source = suspect.spot.source
    made = _making(suspect)
    owner = suspect.owner or model_of(made)
    move = _move(suspect, torch) or _later_move(source, made, owner, torch)
    apart = move is None or not _precedes(source, made, move.statement)
    if apart and (after := _behind(suspect, made, owner, torch)):
        return after
    if move is None:
        if owner is None:
            raise Refused("it is not known which model the optimizer is of")
        return [before_statement(source, made, f"{owner}.to({target_device(suspect)})")]
    if move.alone and _precedes(source, made, move.statement):
        if _needs_between(source, made, move.statement):
            raise Refused("the move needs what comes before it")
        return moved_statement(source, move.statement, made, after=False)
    return [before_statement(source, made, f"{move.owner}.{move.method}")]


def _behind(
    suspect: Suspect, made: ast.stmt, owner: str | None, torch: TorchNames
) -> Sequence[Change]:
    """`behind`, where the optimizer can go there; else the model comes to it, where its name was told."""
    try:
        return behind(suspect.spot.source, made, owner, torch)
    except Refused:
        if suspect.owner is None:
            raise
        return ()


def move_state(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """The state that was loaded into an optimizer is moved to the parameters' device."""
    if changes := remembered(suspect):
        return changes
    source = suspect.spot.source
    loaded = statement_of(source, suspect.spot.node)
    methods = [c for c in calls(loaded) if isinstance(c.func, ast.Attribute)]
    owners = [
        text_of(source, c.func.value)
        for c in methods
        if isinstance(c.func, ast.Attribute) and c.func.attr == "load_state_dict"
    ]
    if len(owners) != 1 or not isinstance(loaded, ast.Expr):
        raise Refused("the statement does not load the state of one optimizer")
    making = _making(suspect)
    owner = suspect.owner or model_of(making)
    if _later_move(source, loaded, owner, torch) is not None:
        raise Refused("the model is moved after the state is loaded: the order has to change")
    if suspect.owner is not None:
        raise Refused("the model is moved where its state is loaded")
    device = target_device(suspect)
    code = (
        f"for state in {owners[0]}.state.values():\n"
        f"    for key, value in state.items():\n"
        f'        if key != "step" and hasattr(value, "to"):\n'
        f"            state[key] = value.to({device})"
    )
    return [after_statement(source, loaded, code)]


def _move(suspect: Suspect, torch: TorchNames) -> _Move | None:
    """The earlier or later move of the model, if it stands in the function of the spot."""
    source, spot = suspect.spot.source, suspect.move
    if spot is None or spot.file != source.path:
        return None
    call = spot.node.value if isinstance(spot.node, (ast.Expr, ast.Assign)) else spot.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if functions_around(source, call)[:1] != functions_around(source, suspect.spot.node)[:1]:
        return None
    return _of_call(source, call, torch)


def _of_call(source: Source, call: ast.Call, torch: TorchNames) -> _Move | None:
    """The move that a call is; None where it is none, or of no name."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in torch.moves:
        return None
    statement = statement_of(source, call)
    owner, alone = dotted(call.func.value), False
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and statement.value is call
    ):
        target = dotted(statement.targets[0])
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


def _making(suspect: Suspect) -> ast.stmt:
    """The statement that makes the optimizer of a spot, or whose state is loaded there."""
    source, node = suspect.spot.source, suspect.spot.node
    statement = statement_of(source, node)
    call = statement.value if isinstance(statement, ast.Expr) else node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return statement
    name = dotted(call.func.value)
    if call.func.attr != "load_state_dict" or name is None:
        return statement
    scope = scope_of(source.tree, node)
    return next(iter(assigned(scope, name)), statement)


def _moved_when_built(suspect: Suspect, torch: TorchNames) -> list[Change]:
    """The changes that move a model where it is built, as a later statement does, which goes; none if the
    spot is not the statement that builds it."""
    source = suspect.spot.source
    built = statement_of(source, suspect.spot.node)
    if not isinstance(built, ast.Assign) or len(built.targets) != 1 or model_of(built) is not None:
        return []
    move = _later_move(source, built, dotted(built.targets[0]), torch)
    if move is None:
        return []
    behind = moved_statement(source, move.statement, built, after=True)  # what it needs is there
    if not isinstance(built.value, ast.Call):
        return behind
    return [
        around(source, built.value, "", f".{move.method}"),
        without_statement(source, move.statement),
    ]


def model_of(made: ast.stmt) -> str | None:
    """The model whose parameters an optimizer is given."""
    for call in calls(made):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PARAMETERS:
            return dotted(call.func.value)
    return None


_PARAMETERS = frozenset({"parameters", "named_parameters"})


def _later_move(
    source: Source, statement: ast.stmt, owner: str | None, torch: TorchNames
) -> _Move | None:
    """The first statement of the same block, after another one, that moves a model."""
    for one in block_of(source, statement):
        call = one.value if isinstance(one, (ast.Expr, ast.Assign)) else None
        if one.lineno > statement.lineno and isinstance(call, ast.Call) and owner is not None:
            move = _of_call(source, call, torch)
            if move is not None and move.owner == owner and move.alone:
                return move
    return None


def _last_change(source: Source, changed: ast.stmt, owner: str) -> ast.stmt:
    """The last statement of the block, from a change on, that puts something into the model."""
    block = block_of(source, changed)
    position = next(i for i, one in enumerate(block) if one is changed)
    last = changed
    for one in block[position + 1 :]:
        if _runs(one, owner):
            break
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            targets = [dotted(target) or "" for target in one.targets]
            if any(target.startswith(f"{owner}.") for target in targets):
                last = one
    return last


def _precedes(source: Source, first: ast.stmt, second: ast.stmt) -> bool:
    block = block_of(source, first)
    return any(one is second for one in block) and first.lineno < second.lineno


def _needs_between(source: Source, first: ast.stmt, last: ast.stmt) -> bool:
    """Whether a statement reads what one before it binds, from another one on."""
    block = block_of(source, first)
    position = next(i for i, one in enumerate(block) if one is first)
    between = [one for one in block[position:] if one.lineno < last.lineno]
    bound = (dotted(one.target) for each in between for one in bindings(each))
    return mentions(last, *filter(None, bound))


def _between(source: Source, first: ast.stmt, last: ast.stmt) -> list[ast.stmt]:
    return [one for one in block_of(source, first) if first.lineno < one.lineno <= last.lineno]


def _runs(statement: ast.stmt, owner: str) -> bool:
    """Whether a statement calls the model."""
    return any(dotted(call.func) == owner for call in calls(statement))


KINDS = {
    "reorder-move-after-build": move_last,
    "rebuild-optimizer": move_first,
    "move-optimizer-state": move_state,
}
