"""What brings models, loaders and batches to its own device: accelerators, fabrics, their functions."""

from __future__ import annotations

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Meets
from diagnose.placement.model import Device
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Loader, Object, Place, Unknown, Value

#: Whether it moves what it prepares.
_PLACES = "device_placement"


def accelerator(call: CallSite) -> Value:
    """An accelerator, fabric or state of processes, and the device that it stands for."""
    device = _told(call)
    if device is None:
        return Unknown()
    made = Object("accelerator")
    made.attributes["device"] = Place(device)
    if (said := call.argument(_PLACES)) is not None:
        made.attributes[_PLACES] = said.value
    return made


def _told(call: CallSite) -> Device | None:
    cpu, kind = call.told("cpu"), call.argument("accelerator")
    if cpu is None and "cpu" in call.given.named:
        return None
    named = kind.value if kind is not None else None
    if cpu or (isinstance(named, Const) and named.value == "cpu"):
        return CPU
    devices = call.given.named.get("devices")
    listed = devices.value if devices is not None else None
    first = next(listed.every(), None) if isinstance(listed, Items) else None
    return call.machine.asked(first) if isinstance(first, Const) else call.machine.home()


def _is_off(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is False


def _home(owner: Object, call: CallSite) -> Device:
    place = owner.attributes.get("device")
    return place.device if isinstance(place, Place) else call.machine.home()


def brings_batch(owner: Object, call: CallSite) -> Value:
    """A batch or a model, brought to the device of an accelerator."""
    if call.first is None:
        return Unknown()
    return prepared(call, call.first, _home(owner, call), batches=True)


def prepares(owner: Object, call: CallSite) -> Value:
    """What an accelerator prepares: models and loaders go to its device, unless it is told not to."""
    given = call.given
    said = [given.named[name].value for name in (_PLACES, "move_to_device") if name in given.named]
    each = said[0].items if said and isinstance(said[0], Items) else []
    stay = any(map(_is_off, said)) or _is_off(owner.attributes.get(_PLACES))
    found = [
        one.value
        if stay or (n < len(each) and _is_off(each[n]))
        else prepared(call, one.value, _home(owner, call))
        for n, one in enumerate(given.listed)
    ]
    return found[0] if len(found) == 1 else Items(found)


def prepares_engine(call: CallSite) -> Value | None:
    """An engine around a model, which it brings to the GPU, and what else is made for it."""
    if (whole := call.given.get("model", 1)) is None:
        return None
    engine = prepared(call, whole.value, call.machine.home())
    return Items([engine, *map(Unknown, ("optimizer", "loader", "scheduler"))])


def prepared(call: CallSite, value: Value, home: Device, *, batches: bool = False) -> Value:
    """What a library prepares: modules are moved, loaders yield what is; tensors are where ``batches``."""
    step = call.moves(home)
    if isinstance(value, Module):
        if value.where() == META:
            empty = Tensor(META, Origin.WEIGHT, value.steps, value.frame, module=value)
            call.meet(ConstraintKind.META, [Meets(call.node, value, empty)])
        if value.where() != SPLIT:
            value.gather(home, step.spot)
    elif isinstance(value, Loader):
        return Loader(moved(value.item, home, step))
    elif batches:
        return moved(value, home, step)
    return value


def puts_weight(call: CallSite) -> Value | None:
    """One weight of a model is put on a device by its name."""
    said, name = call.given.get("device", 2), call.given.text("tensor_name", 1)
    *path, last = (name or "").split(".")
    if not isinstance(model := call.first, Module):
        return None
    owner: Module | None = model
    for part in path:
        owner = owner.children.get(part) if owner is not None else None
    if owner is not None and said is not None and last:
        device = call.machine.asked(said.value)
        steps = (*owner.steps, call.moves(device))
        weight = Tensor(device, Origin.WEIGHT, steps, owner.frame, module=owner)
        owner.tensors = {**owner.tensors, last: weight}
    return Const(None)
