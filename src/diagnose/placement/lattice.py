"""What a variable holds of two values of which it is open which one it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from diagnose.placement.devices import CPU, differ, is_gpu, is_known, is_open
from diagnose.placement.tensors import (
    WIDEST,
    Batch,
    Module,
    Optimizer,
    Table,
    Tensor,
    inside,
    tensors_in,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Object, Place, Unknown, Value


def joined(one: Value | None, other: Value | None) -> Value:
    """What a variable holds after two branches."""
    if one is None or other is None or one is other:
        found = one or other
        return found if found is not None else Unknown()
    if isinstance(one, Const) and isinstance(other, Const) and one.value == other.value:
        return one
    for way, rest in ((one, other), (other, one)):
        if isinstance(way, Const) and way.value is None:
            return _or_none(rest)
    for kind, join in _JOINED:
        if isinstance(one, kind) and isinstance(other, kind):
            return join(one, other) or Unknown()
    return next((way for way in (one, other) if isinstance(way, Unknown)), Unknown())


def _of_tensors(one: Tensor, other: Tensor) -> Tensor:
    if one.device == other.device or differ(one.device, other.device) is False:
        return one
    for way, rest in ((one, other), (other, one)):
        if is_open(way.device) and is_gpu(rest.device):
            return way  # an accelerator's, if it is found to be bound to one
    found = other.like(None)
    found.ways = (one, other)
    return found


def _of_structure(one: Tensor | Batch, other: Tensor | Batch) -> Value | None:
    """``out[0] if isinstance(out, tuple) else out``: what is known of both."""
    tensor, structure = (one, other) if isinstance(one, Tensor) else (other, one)
    return tensor if inside(tensor).device == inside(structure).device else None


def _of_names(one: External, other: External) -> Value | None:
    """``try: from torch.ao.quantization import quantize_dynamic``, and where that was before; not the types
    of tensors, which are of another device by where they are."""
    (*_, last), (*_, name) = one.dotted.split("."), other.dotted.split(".")
    same = last == name and not name.endswith("Tensor")
    return other if same or one.dotted == other.dotted else None


def of_any_key(held: Value | None, value: Value) -> Value:
    """What a dict holds at keys that are not known, once a value is put at one: of tensors on several
    accelerators nobody knows which is at what key."""
    if isinstance(held, Tensor) and isinstance(value, Tensor) and is_gpu(value.device):
        apart = (
            differ(held.device, value.device) if is_gpu(held.device) else not is_known(held.device)
        )
        return value.like(None) if apart else value
    return value


def _or_none(value: Value) -> Value:
    """What a variable holds that may be none: of a device that may be the host, or none that is named,
    nobody knows which."""
    host = isinstance(value, Const) and value.value == "cpu"
    return Unknown() if host or (isinstance(value, Place) and value.device == CPU) else value


def _agree(one: Items, other: Items) -> bool:
    """Whether tensors of two lists are on the same devices, as far as both hold some."""
    places = [{tensor.device for tensor in tensors_in(each)} for each in (one, other)]
    return not all(places) or places[0] == places[1]


def in_a_row(rows: Iterable[Items]) -> Items:
    """Lists as one. Of tensors of which nobody knows how many there are, one of each device stays, where
    nothing else is listed."""
    rows = list(rows)
    items = [item for row in rows for item in row.items][:WIDEST]
    rest = [row.more for row in rows if row.more is not None]
    tensors = [one for one in rest if isinstance(one, Tensor)]
    apart = list[Tensor]()
    for one in tensors:
        if all(differ(one.device, each.device) for each in apart):
            apart.append(one)
    if not items and len(apart) > 1 and len(tensors) == len(rest):
        found = Items([*apart])
        found.grows = True
        return found
    return Items(items, reduce(joined, rest) if rest else None)


def any_of(owner: Items | Table) -> Value:
    """Some item of a container: what its items have in common."""
    found: Value | None = None
    for item in list(owner.every())[:8]:
        found = item if found is None else joined(found, item)
    return found if found is not None else Unknown()


def _either(one: Module, other: Module) -> Module | None:
    """What a variable holds of two modules of which a condition takes one: the one on the GPU; None where
    they are losses of libraries and not of one kind, which do not take the same."""
    library = one.made is None and other.made is None and one.kind != other.kind
    if library and all(each.kind.endswith(("Loss", "Criterion")) for each in (one, other)):
        return None
    place = one.where()
    return one if is_gpu(place) else other


#: What is known of two values of a kind.
_JOINED: tuple[tuple[Any, Callable[[Any, Any], Value | None]], ...] = (
    (Tensor, _of_tensors),
    (Tensor | Batch, _of_structure),
    (External, _of_names),
    (Module, _either),
    (Items, lambda one, other: other if _agree(one, other) else Items([], Unknown(), other.kind)),
    (Table, lambda _, other: other),
    # Of which one took over a state: it is what may be elsewhere.
    (Optimizer, lambda one, other: one if one.loaded is not None else other),
    (
        Object,
        lambda one, other: other if (one.made, one.kind) == (other.made, other.kind) else None,
    ),
)
