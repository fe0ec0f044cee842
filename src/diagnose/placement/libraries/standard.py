"""Calls of the standard library that hand values on: functools, itertools, collections, dataclasses."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from itertools import islice

from diagnose.kinds import Origin
from diagnose.placement.assignments import as_row, element
from diagnose.placement.iteration import iterated
from diagnose.placement.lattice import in_a_row, of_any_key
from diagnose.placement.machine import Arguments, Given, Machine, Partial
from diagnose.placement.records import described, field, replaced, tuple_class
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Class, Const, Frame, Object, Unknown, Value


def standard_call(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a call of the standard library gives, or of what shows how far a loop is; else None."""
    if dotted.rpartition(".")[2] in machine.torch.transparent_iterators and given.every():
        return _first(machine, given, node, frame)
    if dotted.endswith(tuple(machine.torch.attribute_dicts)):
        return namespace(given)
    run = _CALLS.get(dotted.removeprefix("typing_extensions.").removeprefix("typing."))
    return run(machine, given, node, frame) if run is not None else None


def _first(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    one = given.get("iterable", 0)
    return iterated(machine, one.value, node, frame) if one is not None else Unknown()


def namespace(given: Arguments) -> Object:
    """An object whose attributes are what it is given by name, or by a dict."""
    found = Object("namespace")
    for one in given.listed[:1]:
        if isinstance(one.value, Table):
            found.attributes |= {str(key): _nested(item) for key, item in one.value.items.items()}
    named = {name: _nested(one.value) for name, one in given.named.items() if name != "**"}
    found.attributes |= named
    return found


def _nested(value: Value) -> Value:
    if not isinstance(value, Table) or value.more is not None:
        return value
    found = Object("namespace")
    found.attributes = {str(key): item for key, item in value.items.items()}
    return found


def _partial(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    return Partial(given.listed[0].value, given.rest()) if given.listed else Unknown()


def _reduce(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    if len(given.listed) < 2:
        return Unknown()
    function, rows = given.listed[0].value, given.listed[1]
    items = iterated(machine, rows.value, node, frame)
    one = rows._replace(value=element(machine.torch, items))
    return machine.invoke(machine, function, Arguments([one, one]), node, frame)


def _chain(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    rows = (iterated(machine, one.value, node, frame) for one in given.listed)
    return in_a_row(as_row(machine.torch, row) for row in rows)


def _drawn(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Some of the items."""
    items = _first(machine, given, node, frame)
    return Items([], element(machine.torch, items))


def _chosen(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    items = _first(machine, given, node, frame)
    return element(machine.torch, items)


def _deque(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    items = _first(machine, given, node, frame) if given.listed else None
    found = Items(list(items.items), items.more) if isinstance(items, Items) else Items([])
    found.grows = True
    return found


def _default_dict(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    found = Table({})
    found.missing = given.listed[0].value if given.listed else None
    return found


def _named_tuple(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    said = given.get("field_names", 1) or given.get("fields", 1)
    name = given.text("typename", 0) or "Row"
    return tuple_class(name, said.value if said is not None else None, node, frame)


def _replace(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    record = given.listed[0].value if given.listed else None
    return replaced(record, given.rest()) if isinstance(record, Object) else Unknown()


def _as_dict(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    record = given.listed[0].value if given.listed else None
    return Table(dict(record.attributes.items())) if isinstance(record, Object) else Unknown()


def _fields(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    found = described(given.listed[0].value) if given.listed else None
    return found or Unknown()


def _is_record(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    match given.listed[0].value if given.listed else None:
        case (Object(made=Class()) | Class()) as record:
            return Const(described(record) is not None)
        case Tensor() | Items() | Table() | Batch() | Const() | Module():
            return Const(False)
    return Unknown()


def _json(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """What a text that stands in the code holds."""
    text = given.text("s", 0)
    try:
        return _plain(json.loads(text or ""))
    except (ValueError, RecursionError):
        return Unknown()


def _plain(found: object) -> Value:
    match found:
        case dict():
            return Table({key: _plain(one) for key, one in islice(found.items(), WIDEST)})
        case list():
            return Items([_plain(one) for one in found[:WIDEST]])
    return Const(found)


def _executor(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    return Object("executor")


def _same(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    return given.listed[0].value if given.listed else Unknown()


def _nothing(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    return Const(None)


def _dict(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    found = Table({key: one.value for key, one in given.named.items() if key != "**"})
    first = given.listed[0].value if given.listed else None
    if isinstance(first, Table):
        found.items = dict(first.items) | found.items
        found.more = first.more
    elif isinstance(first, Batch) or (isinstance(first, Tensor) and first.maker == Origin.LOAD):
        return Batch(next(tensors_in(first)), mutable=True)
    elif isinstance(first, Items):
        for pair in (*first.items, *([first.more] if first.more is not None else ())):
            key, value = (
                pair.items if isinstance(pair, Items) and len(pair.items) == 2 else (None, None)
            )
            if isinstance(key, Const) and isinstance(key.value, str | int) and value is not None:
                found.items[key.value] = value
            else:
                found.more = of_any_key(found.more, value or Unknown())
    return found


def _thread(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A thread runs what it is given; which GPU is its current one is its own."""
    target = given.told("target", 1)
    listed, named = given.told("args", 3), given.told("kwargs", 4)
    if target is not None:
        values = listed.value.items if listed and isinstance(listed.value, Items) else []
        table = named.value.items if named and isinstance(named.value, Table) else {}
        handed = Arguments(
            [Given(target.node, value) for value in values],
            {str(name): Given(target.node, value) for name, value in table.items()},
        )
        current = machine.current
        machine.invoke(machine, target.value, handed, node, frame)
        machine.current = current
    return Object("thread")


_Run = Callable[[Machine, Arguments, ast.AST, Frame], Value]

_CALLS: dict[str, _Run] = {
    "builtins.dict": _dict,
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.reduce": _reduce,
    "itertools.chain": _chain,
    "random.sample": _drawn,
    "random.choices": _drawn,
    "random.choice": _chosen,
    "random.shuffle": _nothing,
    "collections.deque": _deque,
    "collections.defaultdict": _default_dict,
    "collections.OrderedDict": _dict,
    "collections.namedtuple": _named_tuple,
    "NamedTuple": _named_tuple,
    "dataclasses.field": lambda machine, given, node, frame: field(given),
    "pydantic.Field": lambda machine, given, node, frame: field(given),
    "dataclasses.replace": _replace,
    "dataclasses.asdict": _as_dict,
    "dataclasses.fields": _fields,
    "dataclasses.is_dataclass": _is_record,
    "json.loads": _json,
    "concurrent.futures.ThreadPoolExecutor": _executor,
    "concurrent.futures.ProcessPoolExecutor": _executor,
    "multiprocessing.pool.ThreadPool": _executor,
    "threading.Thread": _thread,
    "asyncio.run": _same,
    "asyncio.gather": lambda machine, given, node, frame: Items(
        [one.value for one in given.listed]
    ),
}
