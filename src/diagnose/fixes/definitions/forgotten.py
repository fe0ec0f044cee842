"""A field that the method of a record forgets, which moves the others: it is moved as they are."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import with_argument
from diagnose.fixes.definitions.moving import is_moved, same_move
from diagnose.fixes.definitions.places import called, class_around
from diagnose.fixes.rewriting import Change
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect


def field(suspect: Suspect, torch: TorchNames) -> Change | None:
    """The change of ``replace(self, x=self.x.to(device))``; None where no such call forgets one field."""
    source, beside = suspect.spot.source, suspect.beside
    call = beside.node.value if beside is not None and isinstance(beside.node, ast.Return) else None
    if beside is None or beside.source is not source or not isinstance(call, ast.Call):
        return None
    moves = [one.value for one in call.keywords if is_moved(one.value, torch)]
    if called(call) != "replace" or not moves or len(call.args) != 1:
        return None
    left = _tensors(source, call) - {one.arg for one in call.keywords}
    name = suspect.name.rpartition(".")[2]
    forgotten = name if name in left else next(iter(left), "")
    move = moves[0]
    if not forgotten or (len(left) > 1 and name not in left) or not isinstance(move, ast.Call):
        return None
    record = ast.unparse(call.args[0])
    return with_argument(source, call, forgotten, f"{record}.{forgotten}{same_move(source, move)}")


def _tensors(source: Source, node: ast.AST) -> set[str]:
    """The fields that the class around a node says are tensors."""
    owner = class_around(source, node)
    return {
        one.target.id
        for one in (owner.body if owner is not None else ())
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if ast.unparse(one.annotation).strip("'\"").endswith("Tensor")
    }
