"""Moves whose results nothing keeps: the tensors stay where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from diagnose.kinds import EventKind
from diagnose.placement.machine import Machine
from diagnose.placement.model import Step
from diagnose.placement.semantics import holds, lines_of, loads, names, nodes
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame, Value


def lose(machine: Machine, node: ast.Expr | ast.Assign, value: Value, frame: Frame) -> None:
    """A tensor is not moved in place: what a statement moves and does not keep knows that it was to move.

    Args:
        machine: the analysis.
        node: a statement that is about to end: an assignment has not given its value to its name yet.
        value: what its expression gave.
        frame: the variables around it.
    """
    match node.value:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            pass
        case _:
            return
    if not isinstance(value, Tensor) or method not in machine.torch.moves:
        return
    if isinstance(node, ast.Assign) and id(node) not in _lost(frame.source.tree):
        return
    moved = machine.evaluate(machine, owner, frame)
    if isinstance(moved, Tensor):
        step = Step(EventKind.DROPPED, machine.spot(node.value, frame), value.device)
        moved.steps = (*moved.steps, step)


@lru_cache(maxsize=8)
def _lost(tree: ast.Module) -> frozenset[int]:
    """The statements that move the variable of a loop, which nothing reads until the loop sets it anew."""
    return frozenset(id(one) for loop in nodes(tree, ast.For) for one in _lost_by(loop))


def _lost_by(loop: ast.For) -> Iterator[ast.Assign]:
    own, body = names(loop.target), loop.body
    # What a loop within moves, its next round may read.
    rounds = [one for each in body for one in nodes(each, ast.For, ast.AsyncFor, ast.While)]
    for one in (one for each in body for one in nodes(each, ast.Assign)):
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved))),
            ) if name == moved and name in own and not any(holds(each, one) for each in rounds):
                read = (use.lineno for each in body for use in loads(each, name))
                if max(read, default=0) < lines_of(one).stop:
                    yield one
