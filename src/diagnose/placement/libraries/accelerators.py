"""What brings models, loaders and batches to its own device: accelerators, fabrics, their functions."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, Machine, Meets
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Loader, Object, Place, Unknown, Value

#: Whether it moves what it prepares.
_PLACES = "device_placement"


def accelerator(machine: Machine, last: str, given: Arguments) -> Value:
    """An accelerator, fabric or state of processes, and the device that it stands for."""
    device = _told(machine, last, given)
    if device is None:
        return Unknown()
    made = Object("accelerator")
    made.attributes["device"] = Place(device)
    said = given.get(_PLACES, 0) if last == "Accelerator" else None
    if said is not None:
        made.attributes[_PLACES] = said.value
    return made


def _told(machine: Machine, last: str, given: Arguments) -> Device | None:
    cpu, devices = given.named.get("cpu"), given.named.get("devices")
    if cpu is not None and not isinstance(cpu.value, Const):
        return None
    if cpu is not None and isinstance(cpu.value, Const) and cpu.value.value:
        return CPU
    if last == "Fabric" and given.text("accelerator", 0) == "cpu":
        return CPU
    first = None
    if devices is not None and isinstance(devices.value, Items):
        first = next(devices.value.every(), None)
    return machine.asked(first) if isinstance(first, Const) else machine.home()


def _is_off(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is False


def accelerated(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of an accelerator or fabric gives."""
    place = owner.attributes.get("device")
    home = place.device if isinstance(place, Place) else machine.home()
    if name in machine.torch.preparing_methods:
        return _prepare(machine, owner, home, given, node, frame)
    if name in ("init_module", "init_tensor"):
        return Place(home)
    if name == "to_device" and given.listed:
        return prepared(machine, given.listed[0].value, home, node, frame, batches=True)
    together = name in machine.torch.gathering_methods
    return given.listed[0].value if together and given.listed else Unknown()


def _prepare(
    machine: Machine, owner: Object, home: Device, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    said = [given.named[name].value for name in (_PLACES, "move_to_device") if name in given.named]
    each = said[0].items if said and isinstance(said[0], Items) else []
    stay = any(map(_is_off, said)) or _is_off(owner.attributes.get(_PLACES))
    found = [
        one.value
        if stay or (n < len(each) and _is_off(each[n]))
        else prepared(machine, one.value, home, node, frame)
        for n, one in enumerate(given.listed)
    ]
    return found[0] if len(found) == 1 else Items(found)


def prepared(
    machine: Machine,
    value: Value,
    home: Device,
    node: ast.AST,
    frame: Frame,
    *,
    batches: bool = False,
) -> Value:
    """What a library prepares: modules are moved, loaders yield what is; tensors are where ``batches``."""
    step = Step(EventKind.MOVED, machine.spot(node, frame), home)
    if isinstance(value, Module):
        if value.where() == META:
            empty = Tensor(META, Origin.WEIGHT, value.steps, value.frame, module=value)
            machine.meet(ConstraintKind.META, node, frame, [Meets(node, value, empty)])
        if value.where() != SPLIT:
            value.gather(home, step.spot)
    elif isinstance(value, Loader):
        return Loader(moved(value.item, home, step))
    elif batches:
        return moved(value, home, step)
    return value


def preparing_call(
    machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a function gives that moves batches or weights, or runs what moves them; None for others."""
    first = given.listed[0].value if given.listed else None
    if last in ("Accelerator", "Fabric", "PartialState"):
        return accelerator(machine, last, given)
    if last == "notebook_launcher" and first is not None:
        said = given.get("args", 1)
        every = said.value.items if said is not None and isinstance(said.value, Items) else []
        listed = [Given(given.listed[0].node, one) for one in every]
        machine.invoke(machine, first, Arguments(listed), node, frame)
        return Const(None)
    if last == "skip_first_batches" and isinstance(first, Loader):
        return first
    if last in machine.torch.moving_functions and first is not None:
        return _sent(machine, first, given, node, frame)
    if last == "set_module_tensor_to_device" and isinstance(first, Module):
        _put(machine, first, given, node, frame)
        return Const(None)
    return None


def _sent(machine: Machine, value: Value, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A batch that a function moves; some change the dict that they are given."""
    said = given.get("device", 1) or given.get("target_device")
    device = machine.asked(said.value) if said is not None else None
    if isinstance(value, Module):
        return value
    found = moved(value, device, Step(EventKind.MOVED, machine.spot(node, frame), device))
    in_place = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("batch_to_device")
    if in_place and isinstance(value, Batch) and isinstance(found, Batch):
        value.inner = found.inner
    elif in_place and isinstance(value, Table) and isinstance(found, Table):
        value.items, value.more = found.items, found.more
    return found


def _put(machine: Machine, model: Module, given: Arguments, node: ast.AST, frame: Frame) -> None:
    """One weight that is put on a device by its name."""
    said, name = given.get("device", 2), given.text("tensor_name", 1)
    *path, last = (name or "").split(".")
    owner: Module | None = model
    for part in path:
        owner = owner.children.get(part) if owner is not None else None
    if owner is None or said is None or not last:
        return
    device = machine.asked(said.value)
    step = Step(EventKind.MOVED, machine.spot(node, frame), device)
    weight = Tensor(device, Origin.WEIGHT, (*owner.steps, step), owner.frame, module=owner)
    owner.tensors = {**owner.tensors, last: weight}
