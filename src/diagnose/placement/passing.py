"""What a function that moves what it is given hands on as it is: there it was forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from diagnose.placement.machine import Machine
from diagnose.placement.model import Step
from diagnose.placement.tensors import Tensor, tensors_in
from diagnose.placement.values import Frame, Function, Object, Value


def handed(machine: Machine, function: Function, inner: Frame) -> list[Tensor]:
    """The tensors that a function which moves things is given; none for other functions."""
    if not _moving(function.node, tuple(machine.torch.moves)):
        return []
    return [tensor for value in inner.names.values() for tensor in _held(value)]


def let_through(machine: Machine, function: Function, given: list[Tensor], inner: Frame) -> None:
    """Marks the tensors that came back from a function as they went in, where others were moved."""
    node = _moving(function.node, tuple(machine.torch.moves))
    if not given or node is None:
        return
    known = {id(tensor) for tensor in given}
    for value, returned in zip(inner.result, inner.returns, strict=False):
        for tensor in _held(value):
            if id(tensor) in known:
                there = node if isinstance(node, ast.Assign) else returned
                step = Step("passed", machine.spot(there, inner), tensor.device)
                tensor.steps = (*tensor.steps[-12:], step)


def _held(value: Value) -> Iterator[Tensor]:
    """The tensors of a value, those of an object's fields among them."""
    yield from tensors_in(value)
    if isinstance(value, Object):
        for one in list(value.attributes.values())[:20]:
            yield from tensors_in(one)


@lru_cache(maxsize=1024)
def _moving(node: ast.AST, moves: tuple[str, ...]) -> ast.stmt | None:
    """The statement by which a function moves what it is given: it returns what it moved, or moves the
    fields of what it returns; None for a function that does something else."""
    found: ast.stmt | None = None
    for one in ast.walk(node):
        if isinstance(one, ast.Return) and one.value is not None and _moves(one.value, moves):
            return one
        if isinstance(one, ast.Assign) and isinstance(
            one.targets[0], ast.Attribute | ast.Subscript
        ):
            found = one if _moves(one.value, moves) else found
    return found


def _moves(node: ast.expr, moves: tuple[str, ...]) -> bool:
    """Whether an expression moves something to a device that it names."""
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in moves
        and one.func.attr != "cpu"
        for one in ast.walk(node)
    )
