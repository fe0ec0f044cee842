"""Lists, dicts and comprehensions, and what a subscript takes out of a value."""

from __future__ import annotations

import ast
from typing import Any

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model import TorchNames
from diagnose.placement.assignments import (
    as_row,
    element,
    iterated,
    one_dimension,
    part,
    put_at,
    special,
    store,
)
from diagnose.placement.devices import SPLIT
from diagnose.placement.language.control_flow import truth
from diagnose.placement.lattice import any_of, in_a_row, joined, of_any_key
from diagnose.placement.libraries.weights import may_be_number
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.model import Device, Step
from diagnose.placement.modules import some_part
from diagnose.placement.python_types import row
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Loader,
    Number,
    Object,
    Unknown,
    Value,
)

#: Items of a literal that are looked at: what is longer is data.
LONGEST = 256


def listed(machine: Machine, node: Any, frame: Frame) -> Value:
    """A list, tuple or set."""
    items: list[Value] = []
    more: Value | None = None
    if len(node.elts) > 1 and all(isinstance(each, ast.Starred) for each in node.elts):
        rows = (_unpacked(machine, each, frame) for each in node.elts[:LONGEST])
        found = in_a_row(as_row(machine.torch, row) for row in rows)
        found.kind = type(node).__name__.casefold()
        return found
    for each in node.elts[:LONGEST]:
        if isinstance(each, ast.Starred):
            value = _unpacked(machine, each, frame)
            if isinstance(value, Items) and value.more is None and more is None:
                items += value.items[:WIDEST]
            else:
                more = joined(more, element(machine.torch, value))
        elif more is not None:  # it stands behind so many that nobody knows where
            more = joined(more, machine.evaluate(machine, each, frame))
        else:
            items.append(machine.evaluate(machine, each, frame))
    machine.spend(len(items) // 8)
    if len(items) > LONGEST or len(node.elts) > LONGEST:
        return Items(items[:LONGEST], Unknown())
    return Items(items, more, type(node).__name__.casefold())


def _unpacked(machine: Machine, starred: ast.Starred, frame: Frame) -> Value:
    """What ``*x`` puts in."""
    return iterated(machine, machine.evaluate(machine, starred.value, frame), starred, frame)


def table(machine: Machine, node: Any, frame: Frame) -> Value:
    """A dict."""
    found = Table({})
    for key, item in zip(node.keys[:LONGEST], node.values[:LONGEST], strict=True):
        value = machine.evaluate(machine, item, frame)
        if key is None:
            if isinstance(value, Table):
                found.items |= value.items
                found.more = value.more or found.more
            else:
                found.more = element(machine.torch, value)
            continue
        name = machine.evaluate(machine, key, frame)
        if isinstance(name, Const) and isinstance(name.value, str | int):
            found.items[name.value] = value
        else:
            found.more = value
    if len(node.keys) > LONGEST:
        found.more = Unknown()
    machine.spend(len(found.items) // 8)
    return found


def subscript(machine: Machine, node: Any, frame: Frame) -> Value:
    """What a subscript takes out of a value."""
    owner, inside = machine.evaluate(machine, node.value, frame), node.slice
    if isinstance(owner, Tensor):
        return Number() if _is_old_item(owner, node) else _taken(machine, owner, node, frame)
    key = machine.evaluate(machine, inside, frame)
    match owner:
        case Unknown(device=Device()) if isinstance(key, Tensor) and not key.scalar:
            table = Tensor(owner.device, Origin.GIVEN)  # only a tensor takes such an index
            sides = [Meets(node.value, table, table), Meets(inside, key, key)]
            machine.meet(ConstraintKind.INDEX, node, frame, sides)
            return table.taken()
        case Batch():
            item = owner.inner.like(owner.inner.device)
            # An entry of a checkpoint may be a number as well.
            item.guessed |= item.maker == Origin.LOAD and may_be_number(machine, key)
            return item
        case Loader():
            return owner.item
        case Table():
            return _entry(machine, owner, key, node, frame)
        case Items() if isinstance(inside, ast.Slice):
            return _some(machine, owner, inside, frame)
        case Items(more=None) if isinstance(key, Const) and isinstance(key.value, int):
            there = -len(owner.items) <= key.value < len(owner.items)
            return owner.items[key.value] if there else Unknown()
        case Items():
            return any_of(owner)
        case Module() if isinstance(inside, ast.Slice):
            return _layers(machine, owner, inside, frame)
        case Module():
            return _layer(machine, owner, _item_name(owner, key), node, frame)
        case Unknown() | External() if isinstance(inside, ast.Constant):
            return Unknown(inside.value) if isinstance(inside.value, str) else Unknown()
        case Object() if owner.is_library_object:
            return owner
        case Object():
            return _of_object(machine, owner, key, node, frame)
    return Unknown()


def _taken(machine: Machine, owner: Tensor, node: ast.Subscript, frame: Frame) -> Tensor:
    """What indices take out of a tensor, which meets them."""
    inside, several = node.slice, False
    for index in inside.elts if isinstance(inside, ast.Tuple) else [inside]:
        value = machine.evaluate(machine, index, frame)
        several |= isinstance(value, Items)
        if isinstance(value, Tensor) and _is_drawn(index, frame):
            value = value.like(value.device, scalar=True)
        if isinstance(value, Tensor | Unknown):
            by = value if isinstance(value, Tensor) else Tensor(None)
            sides = [Meets(node.value, owner, owner), Meets(index, value, by)]
            machine.meet(ConstraintKind.INDEX, node, frame, sides)
            several |= isinstance(value, Tensor) and not value.scalar
    one = False if several else _one_number(machine.torch, owner, inside)
    item = owner.taken(scalar=one)
    item.element = one is not False and (owner.element or _is_number(inside))
    return item


def _of_object(machine: Machine, owner: Object, key: Value, node: ast.AST, frame: Frame) -> Value:
    """What an object gives for a key: a row, a namespace, one that says so itself."""
    if isinstance(key, Const) and (fields := row(owner)) is not None:
        return part(fields, key.value) if isinstance(key.value, int) else Unknown()
    if isinstance(key, Const) and owner.kind == "namespace":
        return owner.attributes.get(str(key.value), Unknown(str(key.value)))
    return special(machine, owner, "__getitem__", node, frame, key) or Unknown()


def _entry(machine: Machine, owner: Table, key: Value, node: ast.AST, frame: Frame) -> Value:
    """What a dict has at a key."""
    if isinstance(key, Const) and isinstance(key.value, str | int) and key.value in owner.items:
        return owner.items[key.value]
    if owner.missing is None:
        return (owner.more if isinstance(key, Const) else None) or any_of(owner)
    made = machine.invoke(machine, owner.missing, Arguments(), node, frame)
    put_at(owner, key, made)
    return made


def _item_name(owner: Module, key: Value) -> str:
    """The name of the part that a subscript takes, from the end where it is negative; empty where that is
    not known."""
    if not isinstance(key, Const):
        return ""
    names = list(owner.children or owner.tensors)
    if isinstance(key.value, int) and -len(names) <= key.value < 0:
        return names[key.value]
    return str(key.value)


def _layer(machine: Machine, owner: Module, name: str, node: ast.AST, frame: Frame) -> Value:
    """A part of a module; any where its name is not known."""
    for held in (owner.children, owner.tensors):
        if name in held:
            return held[name]
    if name and owner.device == SPLIT and owner.made is None:
        return machine.attribute(machine, owner, name, node, frame)
    every = owner.children or owner.tensors
    return next(iter(every.values()), None) or machine.attribute(machine, owner, "0", node, frame)


def _layers(machine: Machine, owner: Module, inside: ast.Slice, frame: Frame) -> Module:
    """A slice of a container of layers; of a library's, of which none is known, some part of it."""
    if not owner.children and isinstance(part := some_part(owner), Module):
        return part
    found = Module(owner.kind, owner.device)
    found.weights, found.steps, found.frame = owner.weights, owner.steps, owner.frame
    chosen = _some(machine, Items(list(owner.children.values())), inside, frame)
    whole = chosen.more is not None
    found.children = {
        name: one
        for name, one in owner.children.items()
        if whole or any(one is other for other in chosen.items)
    }
    return found


def _some(machine: Machine, owner: Items, inside: ast.Slice, frame: Frame) -> Items:
    """A slice of a list."""
    bounds: list[int | None] = []
    for one in (inside.lower, inside.upper, inside.step):
        value = machine.evaluate(machine, one, frame) if one is not None else Const(None)
        number = value.value if isinstance(value, Const) else ""
        if number is not None and not isinstance(number, int):
            return Items([], any_of(owner))
        bounds.append(number)
    if owner.more is not None or bounds[2] == 0:
        return Items([], any_of(owner))
    return Items(owner.items[slice(*bounds)])


def _is_drawn(index: ast.expr, frame: Frame) -> bool:
    """Whether an index is a variable that a loop takes out of a tensor: one position most often."""
    loops = ast.For | ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp
    return isinstance(index, ast.Name) and isinstance(frame.bound.get(index.id), loops)


def _is_old_item(owner: Tensor, node: ast.Subscript) -> bool:
    """Whether an index takes the number out of a loss, as ``loss.data[0]`` did before ``item()``."""
    data = isinstance(node.value, ast.Attribute) and node.value.attr == "data"
    computed = owner.maker not in (Origin.FACTORY, Origin.ARRAY)
    return owner.scalar and (data or computed) and isinstance(node.slice, ast.Constant)


def _adds(index: ast.expr) -> bool:
    """Whether an index is ``None`` or ``...``."""
    return isinstance(index, ast.Constant) and not isinstance(index.value, int)


def _one_number(torch: TorchNames, owner: Tensor, inside: ast.expr) -> bool | None:
    """Whether an index takes one number out of a tensor; None where it leaves that as it was."""
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if any(isinstance(each, ast.Slice) or _adds(each) for each in parts):
        return False
    return True if _is_number(inside) and one_dimension(torch, owner) else None


def _is_number(index: ast.expr) -> bool:
    """Whether an index may be a number."""
    return isinstance(index, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp | ast.BinOp)


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
