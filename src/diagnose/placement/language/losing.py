"""Moves whose results nothing keeps: the tensors stay where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeGuard

from diagnose.kinds import EventKind
from diagnose.placement.machine import Machine
from diagnose.placement.model import Step
from diagnose.placement.semantics import walk
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
    loops = (one for one in walk(tree) if isinstance(one, ast.For))
    return frozenset(id(one) for loop in loops for one in _lost_by(loop))


def _lost_by(loop: ast.For) -> Iterator[ast.Assign]:
    names = {one.id for one in walk(loop.target) if isinstance(one, ast.Name)}
    within = [node for statement in loop.body for node in walk(statement)]
    # What a loop within moves, its next round may read.
    rounds = [one for one in within if isinstance(one, ast.For | ast.AsyncFor | ast.While)]
    again = {id(node) for one in rounds for node in walk(one)}
    for one in within:
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved))),
            ) if name == moved and name in names and id(one) not in again:
                last = one.end_lineno or one.lineno
                if not any(_reads(each, name) and each.lineno > last for each in within):
                    yield one


def _reads(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
