"""What is forgotten beside others that are moved: a field of a record, some values of a dict."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnose.fixes.definitions.expressions import moved, replaced, with_argument
from diagnose.fixes.definitions.moving import is_moved, same_move
from diagnose.fixes.definitions.places import called, class_around, text_of
from diagnose.fixes.definitions.statements import after_statement
from diagnose.fixes.rewriting import Change
from diagnose.kinds import EventKind
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect

#: The annotation of a tensor that may be None.
_MAYBE = re.compile(r"(typing\.)?Optional\[[\w.]*Tensor\]|[\w.]*Tensor \| None")


def field(suspect: Suspect, torch: TorchNames) -> Change | None:
    """The change of ``replace(self, x=self.x.to(device))``, or of ``Batch(x=self.x.to(device), y=self.y)``;
    None where no such call forgets one field."""
    source, beside = suspect.spot.source, suspect.beside
    call = beside.node.value if beside is not None and isinstance(beside.node, ast.Return) else None
    if beside is None or beside.source is not source or not isinstance(call, ast.Call):
        return None
    moves = [one.value for one in call.keywords if is_moved(one.value, torch)]
    brought = {one.arg for one in call.keywords if one.value in moves}
    if (bare := _handed_on(source, call, brought, moves)) is not None:
        return bare
    if called(call) != "replace" or not moves or len(call.args) != 1:
        return None
    left = _tensors(source, call, brought) - {one.arg for one in call.keywords}
    name = suspect.name.partition("[")[0].rpartition(".")[2]
    forgotten = name if name in left else next(iter(left), "")
    move = moves[0]
    if not forgotten or (len(left) > 1 and name not in left) or not isinstance(move, ast.Call):
        return None
    record = ast.unparse(call.args[0])
    return with_argument(source, call, forgotten, f"{record}.{forgotten}{same_move(source, move)}")


def _handed_on(
    source: Source, call: ast.Call, brought: set[str | None], moves: Sequence[ast.expr]
) -> Change | None:
    """The move of the one tensor that a call hands on as an object has it, beside others that it moves."""
    own = class_around(source, call)
    if not moves or own is None or called(call) != own.name or not isinstance(moves[0], ast.Call):
        return None
    tensors = _tensors(source, call, brought)
    left = [
        one.value
        for one in call.keywords
        if one.arg in tensors - brought and isinstance(one.value, ast.Attribute)
    ]
    if len(left) != 1:
        return None
    return replaced(source, left[0], f"{text_of(source, left[0])}{same_move(source, moves[0])}")


def assigned(suspect: Suspect, torch: TorchNames) -> Change | None:
    """The statement ``self.x = self.x.to(device)`` after another such one of an object's method, or
    ``x = x.to(device)`` after that of another variable; the move of what is put in the place of a buffer;
    None where no such statement forgets one."""
    source = suspect.spot.source
    if suspect.beside is None:
        return _renewed(suspect)
    match suspect.spot.node:
        case (
            ast.Assign(
                targets=[ast.Attribute() | ast.Name() as target], value=ast.Call() as move
            ) as statement
        ):
            pass
        case _:
            return None
    owner = move.func.value if isinstance(move.func, ast.Attribute) else None
    if not is_moved(move, torch) or owner is None or ast.unparse(owner) != ast.unparse(target):
        return None
    code = f"{suspect.name} = {suspect.name}{same_move(source, move)}"
    return after_statement(source, statement, code)


def _renewed(suspect: Suspect) -> Change | None:
    """The change by which a copy of what a list or dict holds goes where the buffer is that it replaces."""
    source, node = suspect.spot.source, suspect.spot.node
    lives = [step.what for step in suspect.steps]
    put = next((step for step in reversed(suspect.steps) if step.what == EventKind.PUT), None)
    if put is None or put.spot.node is not node or EventKind.HELD not in lives:
        return None
    match node:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            return moved(source, value, f"{text_of(source, target)}.device")
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value]):
            buffer = f"getattr({text_of(source, owner)}, {text_of(source, name)})"
            return moved(source, value, f"{buffer}.device")
    return None


def of_some(suspect: Suspect, torch: TorchNames) -> Change | None:
    """The change by which a dict that moves some of its values by their names moves all that can be moved;
    None for what makes no such dict."""
    source, node = suspect.spot.source, suspect.spot.node
    match node:
        case ast.BinOp(op=ast.BitOr(), left=ast.DictComp() as made):
            return _of_all(source, node, made, made.value, torch)
        case ast.DictComp(value=ast.IfExp(body=move, orelse=ast.Name())):
            return _of_all(source, node, node, move, torch)
    return None


def _of_all(
    source: Source, node: ast.expr, made: ast.DictComp, move: ast.expr, torch: TorchNames
) -> Change | None:
    match move:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=value))) if is_moved(move, torch):
            pass
        case _:
            return None
    clause = made.generators[0]
    names = f"{text_of(source, clause.target)} in {text_of(source, clause.iter)}"
    each = f'{text_of(source, move)} if hasattr({value}, "to") else {value}'
    return replaced(source, node, f"{{{text_of(source, made.key)}: {each} for {names}}}")


def _tensors(source: Source, node: ast.AST, moved: set[str | None]) -> set[str]:
    """The fields that the class around a node says are tensors; those that may be None, too, where some of
    the ``moved`` ones may."""
    owner = class_around(source, node)
    said = {
        one.target.id: ast.unparse(one.annotation).strip("'\"")
        for one in (owner.body if owner is not None else ())
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    sure = {name for name, kind in said.items() if kind.endswith("Tensor")}
    maybe = {name for name, kind in said.items() if _MAYBE.fullmatch(kind)}
    return sure | (maybe if maybe & moved else set())
