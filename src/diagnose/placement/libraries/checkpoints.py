"""What is saved, and comes back where it was unless it is mapped elsewhere."""

from __future__ import annotations

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.functional import mapped_by
from diagnose.placement.libraries.meta_modules import empty_tensors, keep_unsaved
from diagnose.placement.machine import Given, Machine
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Place, Unknown, Value


def saved(call: CallSite) -> Value:
    """``torch.save(value, file)``."""
    value, file = call.given.get("obj", 0), call.given.get("f", 1)
    if value is not None and file is not None:
        call.machine.saved.append((file.value, value.value))
    return Const(None)


def loaded(call: CallSite) -> Batch:
    """What ``torch.load`` gives: mapped to a device, or where the program saved it."""
    said, file = call.given.told("map_location", 1), call.given.get("f", 0)
    found = loaded_from(call, said.value if said is not None else None)
    if said is not None or file is None:
        return found
    saved = reversed(call.machine.saved)
    value = next((held for at, held in saved if _is_same(at, file.value)), None)
    device = _place(value) if value is not None else None
    return Batch(found.inner.like(device)) if device is not None else found


def loaded_file(call: CallSite) -> Batch:
    """What a function loads onto the device of the row, or the one that it is told."""
    said = call.argument(call.effect.of)
    there = Place(CPU) if call.effect.to == "cpu" else None
    return loaded_from(call, said.value if said is not None else there)


def loaded_from(call: CallSite, where: Value | None) -> Batch:
    """What is loaded and mapped to what a call says."""
    value = mapped_by(call, where)
    device = call.machine.asked(value) if value is not None else None
    made = call.step(EventKind.LOADED, device)
    return Batch(Tensor(device, Origin.LOAD, made, call.frame))


def loads_state(owner: Module, call: CallSite) -> Value:
    """``load_state_dict`` copies what was loaded into the weights where they are; with ``assign=True`` it
    takes their place, wherever it is."""
    given, spot = call.given, call.spot
    state, assign = given.get("state_dict", 0), given.get("assign", 2)
    if state is not None and not _is_off(assign):
        left = owner.where() if _is_off(given.get("strict", 1), otherwise=False) else None
        loaded = next(tensors_in(state.value), None)
        device = loaded.device if loaded is not None and _is_on(assign) else None
        # Of a model of which it is a part, some weights stay where they were: what is on the host then
        # meets what the GPU computes all the same.
        if left == META or (left is not None and device not in (CPU, left)):
            device = None
        empty = list(empty_tensors(owner)) if _is_on(assign) else []
        owner.move(device, Step(EventKind.LOADED, spot, left))
        keep_unsaved(owner, empty, spot)
    elif owner.where() == META:
        owner.steps = (*owner.steps[-12:], Step(EventKind.UNFILLED, spot, META))
    return Unknown()


def _is_on(said: Given | None) -> bool:
    """Whether an argument is known to be true."""
    return said is not None and isinstance(said.value, Const) and bool(said.value.value)


def _is_off(said: Given | None, *, otherwise: bool = True) -> bool:
    """Whether an argument is known to be false; ``otherwise`` is what it is where it is left out."""
    if said is None:
        return otherwise
    return isinstance(said.value, Const) and not said.value.value


def may_be_number(machine: Machine, key: Value) -> bool:
    """Whether an entry of a checkpoint may be no tensor: where the program itself has not saved one so."""
    if not isinstance(key, Const) or not isinstance(key.value, str):
        return False
    tables = (held.items for _, held in machine.saved if isinstance(held, Table))
    return not any(isinstance(held.get(key.value), _HOLDING) for held in tables)


#: What holds tensors.
_HOLDING = Tensor | Batch | Table | Items


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values name the same file, as far as is known."""
    if isinstance(one, Const) and isinstance(other, Const):
        return one.value == other.value
    return one is other


def _place(value: Value) -> Device | None:
    """Where all tensors of a value are; None where they are apart, or that is not known."""
    places = {tensor.device for tensor in tensors_in(value)}
    return places.pop() if len(places) == 1 else None
