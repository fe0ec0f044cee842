"""Device maps: where a library puts the parts of a model, and brings their inputs and outputs."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import DeviceType, EventKind
from diagnose.placement.devices import CPU, SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import last_of
from diagnose.placement.tensors import Module, Table, tensors_in
from diagnose.placement.values import Const, Unknown, Value

#: The attribute by which a library knows where it has put the parts of a model.
MAP = "hf_device_map"
#: By which a model is quantized when it is loaded.
_IN_BITS = ("load_in_8bit", "load_in_4bit")


def place(machine: Machine, said: Value) -> Device | None:
    """Where a device map puts a model: on several devices, where it does not name a single one."""
    if isinstance(said, Const) and isinstance(said.value, str):
        return machine.asked(said) or SPLIT
    if isinstance(said, Table):
        places = {machine.asked(value) for value in said.every()}
        return places.pop() if len(places) == 1 else SPLIT
    return machine.asked(said)


def mapped(call: CallSite, found: Module) -> None:
    """``device_map=`` of from_pretrained, and what chooses one."""
    said = call.given.told("device_map")
    if said is None:
        _quantized(call, found)
        return
    device = place(call.machine, said.value)
    step = Step(EventKind.MOVED, call.machine.spot(said.node, call.frame), device)
    put(call.machine, found, said.value, device, step)


def dispatched(call: CallSite) -> Value:
    """A model whose parts are put where a map says, on several devices where none is written out."""
    model, said = call.first, call.given.get("device_map", call.effect.takes.index("device_map"))
    if isinstance(model, Module):
        value = said.value if said is not None else Unknown()
        written = isinstance(value, Table) and value.more is None
        where = (place(call.machine, value) if written else None) or SPLIT
        put(call.machine, model, value, where, call.moves(where))
    return model or Unknown()


def put(machine: Machine, model: Module, said: Value, device: Device | None, step: Step) -> None:
    """Puts a model where a map says; of one that is written out, its parts."""
    model.move(device, step)
    model.device = device
    if device != SPLIT or not isinstance(said, Table):
        return
    model.plain[MAP] = said
    for name, part in list(model.children.items()):
        _put_part(machine, model, part, name, step)


def _put_part(machine: Machine, whole: Module, part: Module, path: str, step: Step) -> None:
    told = part_device(machine, whole, path)
    if told is not None:
        _place(machine, whole, part, told, step)
        return
    for name, inner in list(part.children.items()):
        _put_part(machine, whole, inner, f"{path}.{name}", step)


def _place(machine: Machine, whole: Module, part: Module, told: Device, step: Step) -> None:
    """Puts a part on its device; what a map leaves on the host is brought to the first GPU to run."""
    if told != CPU:
        part.move(told, step._replace(device=told))
        part.runs = told
        return
    said = whole.plain[MAP]
    places = map(machine.asked, said.items.values() if isinstance(said, Table) else ())
    part.move(CPU, step._replace(what=EventKind.OFFLOADED, device=CPU))
    part.runs = next((one for one in places if one is not None and one != CPU), machine.home())


def part_device(machine: Machine, whole: Module, path: str) -> Device | None:
    """Where a written map puts a part of a model; None where it does not say."""
    said = whole.plain.get(MAP)
    names = path.split(".")
    for count in range(len(names), 0, -1):
        value = said.items.get(".".join(names[:count])) if isinstance(said, Table) else None
        device = machine.asked(value) if value is not None else None
        if isinstance(value, Const) and value.value == "disk":
            return CPU
        if value is not None:
            return device
    return None


def on_host(machine: Machine, whole: Module) -> bool:
    """Whether a written map leaves a part of a model on the host or disk, beside what it puts on GPUs."""
    said = whole.plain.get(MAP)
    told = list(said.items.values()) if isinstance(said, Table) else []
    places = {machine.asked(one) for one in told}
    disk = any(isinstance(one, Const) and one.value == "disk" for one in told)
    return (disk or CPU in places) and any(
        one is not None and one.type == DeviceType.CUDA for one in places
    )


#: What the layers are called, at the end of their names, that these methods of a library's model give.
_GIVEN = {
    "get_input_embeddings": re.compile(r"(.*\.)?(embed\w*|word_embeddings|wte|shared)"),
    "get_output_embeddings": re.compile(r"(.*\.)?(lm_head|embed_out)"),
}


def given_part(machine: Machine, whole: Module, part: Module, method: str) -> Module:
    """A part of a spread model that a method gives: on its own device, where one name of a written map says
    which that is."""
    said, pattern = whole.plain.get(MAP), _GIVEN.get(method)
    if pattern is None or not isinstance(said, Table) or part.device != SPLIT:
        return part
    names = [name for name in said.items if isinstance(name, str) and pattern.fullmatch(name)]
    told = part_device(machine, whole, names[0]) if len(names) == 1 else None
    step = next((one for one in whole.steps if one.device == SPLIT), None)
    if told is not None and step is not None:
        _place(machine, whole, part, told, step)
    return part


def reached(machine: Machine, part: Module) -> Module:
    """A part of a spread model that a program reaches into: on its own device, by a map that is written."""
    path = list[str]()
    for inner in part.owners():
        outer = inner.owner
        if outer is None:
            told = part_device(machine, inner, ".".join(reversed(path))) if path else None
            step = next((one for one in inner.steps if one.device == SPLIT), None)
            if told is not None and part.device == SPLIT and step is not None:
                _place(machine, inner, part, told, step)
            break
        path += [name for name, one in outer.children.items() if one is inner][:1]
    return part


def gives_back(module: Module) -> bool:
    """Whether a library brings what a spread model gives back to where its input was."""
    last = last_of(module.steps, EventKind.MOVED)
    if module.where() != SPLIT or module.owner is not None or last is None:
        return False
    return "parallelize" not in ast.unparse(last.spot.node)


def given_back(value: Value, given: Arguments, spot: Spot) -> Value:
    """What a spread or offloaded model gives, brought back to where its first input was."""
    first = next((t for one in given.every() for t in tensors_in(one.value)), None)
    device = first.device if first is not None else None
    return moved(value, device, Step(EventKind.MOVED, spot, device))


def _quantized(call: CallSite, found: Module) -> None:
    """A model that is quantized when it is loaded: on the GPU, or where its library chooses."""
    said, named = call.given.told("quantization_config"), call.given.named
    bits = [named[name].value for name in _IN_BITS if name in named]
    sure = any(isinstance(one, Const) and one.value is True for one in bits)
    if said is None and all(isinstance(one, Const) and not one.value for one in bits):
        return
    device = call.machine.home() if sure else None
    found.move(device, call.moves(device))
    found.device = device
