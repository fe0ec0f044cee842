"""Calls of the standard library that hand values on: functools, itertools, collections, dataclasses."""

from __future__ import annotations

import json
from itertools import islice

from diagnose.kinds import Origin
from diagnose.placement.assignments import as_row, element
from diagnose.placement.iteration import iterated
from diagnose.placement.lattice import in_a_row, of_any_key
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Arguments, Partial
from diagnose.placement.records import described, field, replaced, tuple_class
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Class, Const, Object, Unknown, Value


def namespace(call: CallSite) -> Object:
    """An object whose attributes are what it is given by name, or by a dict."""
    found = Object("namespace")
    if isinstance(call.first, Table):
        found.attributes |= {str(key): _nested(item) for key, item in call.first.items.items()}
    named = {name: _nested(one.value) for name, one in call.given.named.items() if name != "**"}
    found.attributes |= named
    return found


def _nested(value: Value) -> Value:
    if not isinstance(value, Table) or value.more is not None:
        return value
    found = Object("namespace")
    found.attributes = {str(key): item for key, item in value.items.items()}
    return found


def partial(call: CallSite) -> Value:
    """A function that some of its arguments are given already."""
    return Partial(call.first, call.given.rest()) if call.first is not None else Unknown()


def reduced(call: CallSite) -> Value:
    """A function called with two items of a list."""
    if call.first is None or len(call.given.listed) < 2:
        return Unknown()
    rows = call.given.listed[1]
    items = iterated(call.machine, rows.value, call.node, call.frame)
    one = rows._replace(value=element(call.machine.torch, items))
    return call.run(call.first, Arguments([one, one]))


def chained(call: CallSite) -> Value:
    """The items of several lists."""
    rows = (iterated(call.machine, one.value, call.node, call.frame) for one in call.given.listed)
    return in_a_row(as_row(call.machine.torch, row) for row in rows)


def _run_through(call: CallSite) -> Value:
    if call.first is None:
        return Unknown()
    return iterated(call.machine, call.first, call.node, call.frame)


def some_items(call: CallSite) -> Value:
    """Some of the items of a list."""
    return Items([], an_item(call))


def an_item(call: CallSite) -> Value:
    """One of the items of a list."""
    return element(call.machine.torch, _run_through(call))


def deque(call: CallSite) -> Value:
    """A list that grows at both ends."""
    items = _run_through(call)
    found = Items(list(items.items), items.more) if isinstance(items, Items) else Items([])
    found.grows = True
    return found


def default_dict(call: CallSite) -> Value:
    """A dict that makes what it lacks."""
    found = Table({})
    found.missing = call.first
    return found


def named_tuple(call: CallSite) -> Value:
    """The class of tuples with named fields."""
    said = call.given.get("field_names", 1) or call.given.get("fields", 1)
    name = call.given.text("typename", 0) or "Row"
    return tuple_class(name, said.value if said is not None else None, call.node, call.frame)


def record_field(call: CallSite) -> Value:
    """What a class of records says of a field."""
    return field(call.given)


def record_replaced(call: CallSite) -> Value:
    """A record with other values in some fields."""
    return replaced(call.first, call.given.rest()) if isinstance(call.first, Object) else Unknown()


def record_dict(call: CallSite) -> Value:
    """The fields of a record as a dict."""
    record = call.first
    return Table(dict(record.attributes.items())) if isinstance(record, Object) else Unknown()


def record_fields(call: CallSite) -> Value:
    """The fields of a record, or of a class of such."""
    return (described(call.first) if call.first is not None else None) or Unknown()


def is_record(call: CallSite) -> Value:
    """Whether something is a record, or a class of such."""
    match call.first:
        case (Object(made=Class()) | Class()) as record:
            return Const(described(record) is not None)
        case Tensor() | Items() | Table() | Batch() | Const() | Module():
            return Const(False)
    return Unknown()


def parsed_json(call: CallSite) -> Value:
    """What a text that stands in the code holds."""
    try:
        return _plain(json.loads(call.given.text("s", 0) or ""))
    except (ValueError, RecursionError):
        return Unknown()


def _plain(found: object) -> Value:
    match found:
        case dict():
            return Table({key: _plain(one) for key, one in islice(found.items(), WIDEST)})
        case list():
            return Items([_plain(one) for one in found[:WIDEST]])
    return Const(found)


def listed(call: CallSite) -> Value:
    """A list of what it is given."""
    return Items([one.value for one in call.given.listed])


def table(call: CallSite) -> Value:
    """A dict of what it is given by name, and of the dict or pairs before that."""
    found = Table({key: one.value for key, one in call.given.named.items() if key != "**"})
    first = call.first
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
