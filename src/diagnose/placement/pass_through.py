"""What a function that moves what it is given hands on as it is: there it was forgotten."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import lru_cache

from diagnose.kinds import EventKind
from diagnose.model.vocabulary import Names
from diagnose.placement.devices import is_host
from diagnose.placement.machine import Machine
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import last_of
from diagnose.placement.python_types import is_data_class
from diagnose.placement.semantics import calls, holds, names, nodes
from diagnose.placement.tensors import Batch, Table, Tensor, inside, tensors_in, within
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Frame, Function, Object, Value


def handed(machine: Machine, function: Function, inner: Frame) -> list[Tensor]:
    """The tensors that a function which moves things is given; none for other functions."""
    if not _moving(function.node, machine.torch.moves):
        return []
    return [tensor for value in inner.names.values() for tensor in _held(value)]


def let_through(machine: Machine, function: Function, given: list[Tensor], inner: Frame) -> None:
    """Marks the tensors that came back from a function as they went in, where others were moved."""
    for value, returned in zip(inner.result, inner.returns, strict=False):
        _left(machine, value, returned, inner)
    if not given:
        return
    node = _moving(function.node, machine.torch.moves)
    known = {id(tensor) for tensor in given}
    for value, returned in zip(inner.result, inner.returns, strict=False):
        for tensor in _held(value):
            if id(tensor) in known:
                there = node if isinstance(node, ast.Assign) else returned
                step = Step(
                    EventKind.PASSED, machine.spot(there, inner), tensor.device, _class_of(value)
                )
                tensor.steps = (*tensor.steps[-12:], step)


def _class_of(value: Value) -> Spot | None:
    """The data class that a value is of; None for other values."""
    made = value.made if isinstance(value, Object) else None
    return Spot(made.source, made.node) if made is not None and is_data_class(made) else None


def _left(machine: Machine, value: Value, returned: ast.Return, inner: Frame) -> None:
    """Marks the items of a batch that a function returns as they are, where it moves others of it."""
    nodes = returned.value.elts if isinstance(returned.value, ast.Tuple) else []
    items = value.items if isinstance(value, Items) and len(value.items) == len(nodes) else []
    for node, item in zip(nodes, items, strict=False):
        root = taken_from(node)
        if root is None or inner.lines.get(root) != 0:
            continue
        others = [one.value for one in inner.bound.values() if isinstance(one, ast.Assign)]
        if any(moves_from(one, root) for one in (*others, *nodes)):
            for tensor in tensors_in(item):
                step = Step(EventKind.LEFT, machine.spot(node, inner), tensor.device)
                tensor.steps, tensor.frame = (*tensor.steps[-12:], step), inner


def left_by(machine: Machine, node: ast.expr, value: Value, frame: Frame) -> None:
    """Marks the tensors that an expression leaves, which makes a dict of another one, and moves others."""
    for left, found in _beside_moved(node, value, frame):
        for tensor in tensors_in(found):
            if is_host(tensor.device):
                step = Step(EventKind.LEFT, machine.spot(left, frame), tensor.device)
                tensor.steps, tensor.frame = (*tensor.steps[-12:], step), frame
    made = isinstance(node, ast.DictComp) or (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitOr)
        and isinstance(node.left, ast.DictComp)
    )
    if not made or not isinstance(value, Table) or not any(moved_in(node)):
        return
    for tensor in tensors_in(value):
        move = last_of(tensor.steps, EventKind.MADE, EventKind.MOVED)
        if move is not None and not holds(node, move.spot.node):
            step = Step(EventKind.LEFT, machine.spot(node, frame), tensor.device)
            tensor.steps, tensor.frame = (*tensor.steps[-12:], step), frame


#: Comprehensions, also those that a function makes a list of.
_Comprehended = ast.ListComp | ast.DictComp | ast.Call


def _beside_moved(node: ast.expr, value: Value, frame: Frame) -> Iterator[tuple[ast.expr, Value]]:
    """What an expression takes out of something as it is, where others are moved: names among the elements
    of a comprehension, a comprehension beside another, or behind one that moves."""
    match node, value:
        case ast.Tuple(elts=nodes), Items(items=items) if len(items) == len(nodes):
            if any(any(moved_in(one)) for one in nodes):
                for one, item in zip(nodes, items, strict=True):
                    if (left := _as_it_is(one)) is not None:
                        yield left, item
        case ast.ListComp(elt=ast.Tuple(elts=nodes)), Items():
            taken = value.more or next(iter(value.items), None)
            items = taken.items if isinstance(taken, Items) else []
            if any(any(moved_in(one)) for one in nodes) and len(items) == len(nodes):
                for one, item in zip(nodes, items, strict=True):
                    if isinstance(one, ast.Name):
                        yield one, item
        case ast.ListComp() | ast.DictComp(), _ if (left := _as_it_is(node)) is not None:
            others = [one.value for one in frame.bound.values() if isinstance(one, ast.Assign)]
            if any(isinstance(one, _Comprehended) and any(moved_in(one)) for one in others):
                yield left, value


def _as_it_is(node: ast.expr) -> ast.Name | None:
    """The values that a comprehension takes out of a dict as they are; of a list's dicts likewise."""
    while isinstance(node, ast.ListComp):
        node = node.elt
    if not isinstance(node, ast.DictComp) or not isinstance(node.value, ast.Name):
        return None
    return node.value if node.value.id in names(node.generators[0].target) else None


def _held(value: Value, depth: int = 2) -> Iterator[Tensor]:
    """The tensors of a value, those of the fields of objects, and of the records in them, among them."""
    for one in within(value):
        if isinstance(one, Tensor | Batch):
            yield inside(one)
        elif isinstance(one, Object) and depth:
            for part in list(one.attributes.values())[:20]:
                yield from _held(part, depth - 1)


@lru_cache(maxsize=1024)
def _moving(node: ast.AST, moves: Names) -> ast.stmt | None:
    """The statement by which a function moves what it is given: it returns what it moved, or moves the
    fields of what it returns; None for a function that does something else."""
    found: ast.stmt | None = None
    away = moves - {"cpu"}
    for one in nodes(node, ast.Return, ast.Assign):
        if isinstance(one, ast.Return):
            if one.value is not None and any(moved_in(one.value, away)):
                return one
        elif _is_field(one.targets[0]):
            found = one if any(moved_in(one.value, away)) else found
    return found


def _is_field(target: ast.expr) -> bool:
    """Whether an assignment is to fields or items."""
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    return isinstance(first, ast.Attribute | ast.Subscript)


def taken_from(node: ast.expr) -> str | None:
    """The variable of which an expression is a field or an item."""
    part = isinstance(node, ast.Attribute | ast.Subscript)
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if part and isinstance(node, ast.Name) else None


def moves_from(node: ast.expr, root: str) -> bool:
    """Whether an expression moves a field or an item of a variable."""
    return any(taken_from(one) == root for one in moved_in(node))


def moved_in(node: ast.AST, moves: Collection[str] = ("to", "cuda")) -> Iterator[ast.expr]:
    """What the moves of an expression, or of a function, move; ``moves`` are the methods that do."""
    for one in calls(node):
        if isinstance(one.func, ast.Attribute) and one.func.attr in moves:
            yield one.func.value
