"""Comprehensions and generator expressions of the user's files."""

from __future__ import annotations

import ast
from typing import Any

from diagnose.kinds import EventKind
from diagnose.placement.assignments import element, store
from diagnose.placement.iteration import iterated
from diagnose.placement.language.conditions import truth
from diagnose.placement.lattice import of_any_key
from diagnose.placement.machine import Machine
from diagnose.placement.model import Step
from diagnose.placement.tensors import WIDEST, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Value


def comprehended(machine: Machine, node: Any, frame: Frame) -> Value:
    """What a comprehension makes: item by item of a few that are known."""
    machine.spend(len(frame.names) // 8)
    inner = Frame(
        frame.source, dict(frame.names), frame.around, frame.function, frame.this, frame.owner
    )
    inner.lines, inner.given, inner.caller, inner.call = (
        frame.lines,
        frame.given,
        frame.caller,
        frame.call,
    )
    if (found := _each(machine, node, inner)) is not None:
        return found
    for clause in node.generators:
        items = iterated(machine, machine.evaluate(machine, clause.iter, inner), clause.iter, inner)
        store(machine, clause.target, element(machine.torch, items), inner, node)
        for test in clause.ifs:
            machine.evaluate(machine, test, inner)
    if isinstance(node, ast.DictComp):
        machine.evaluate(machine, node.key, inner)
        return Table({}, machine.evaluate(machine, node.value, inner))
    return Items([], _listed(machine, node.elt, inner), _COMPREHENDED.get(type(node), ""))


#: What a comprehension makes; a generator is of no kind that programs ask for.
_COMPREHENDED: dict[type, str] = {ast.ListComp: "list", ast.SetComp: "set"}
#: Items of a comprehension that are computed one by one.
_EACH = 8
#: Clauses of such a comprehension.
_CLAUSES = 2


def _each(machine: Machine, node: Any, inner: Frame) -> Value | None:
    """The items of a comprehension over a few that are known, and of which is known whether each is taken;
    None for others."""
    deepest = 3 if isinstance(node, ast.DictComp) else 1
    if len(node.generators) > _CLAUSES or machine.nested > deepest:
        return None
    values = list[tuple[Value | None, Value]]()
    machine.nested += 1
    try:
        if not _rows(machine, node, node.generators, inner, values):
            return None
    finally:
        machine.nested -= 1
    if not isinstance(node, ast.DictComp):
        return Items([value for _, value in values], None, _COMPREHENDED.get(type(node), ""))
    found = Table({})
    for name, value in values:
        if isinstance(name, Const) and isinstance(name.value, str | int):
            found.items[name.value] = value
        else:
            found.more = of_any_key(found.more, value)
    return found


def _rows(
    machine: Machine,
    node: Any,
    clauses: list[ast.comprehension],
    inner: Frame,
    found: list[tuple[Value | None, Value]],
) -> bool:
    """Computes the items of a comprehension clause by clause, each with its key; False where not all that
    they are made of is known."""
    if not clauses:
        key = machine.evaluate(machine, node.key, inner) if isinstance(node, ast.DictComp) else None
        made = node.value if isinstance(node, ast.DictComp) else None
        item = machine.evaluate(machine, made, inner) if made else _listed(machine, node.elt, inner)
        found.append((key, item))
        return len(found) <= WIDEST
    clause = clauses[0]
    items = iterated(machine, machine.evaluate(machine, clause.iter, inner), clause.iter, inner)
    if not isinstance(items, Items) or items.more is not None or not 0 < len(items.items) <= _EACH:
        return False
    for item in items.items:
        store(machine, clause.target, item, inner, node)
        taken = [truth(machine, test, inner) for test in clause.ifs]
        if None in taken:
            return False
        if all(taken) and not _rows(machine, node, clauses[1:], inner, found):
            return False
    return True


def _listed(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    """An item of a comprehension; a tensor knows what listed it."""
    item = machine.evaluate(machine, node, frame)
    if isinstance(item, Tensor):
        return item.like(
            item.device, Step(EventKind.LISTED, machine.spot(node, frame), item.device)
        )
    return item
