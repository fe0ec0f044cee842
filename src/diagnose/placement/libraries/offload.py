"""Modules that a library keeps on the host and brings to the GPU for their forward."""

from __future__ import annotations

import ast
from collections.abc import Callable

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, HOME, META, SPLIT
from diagnose.placement.libraries.device_maps import given_back, on_host
from diagnose.placement.libraries.meta_modules import is_taken, released
from diagnose.placement.libraries.offload_turns import end_turn_before, hook_of
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, Machine, origin
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import is_offloaded, last_of
from diagnose.placement.semantics import arguments, called
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Unknown, Value

#: Functions of accelerate and diffusers that offload the module that they are given -> the keyword of the
#: device that it runs on, its position, and whether each of its parts is brought by itself.
_FUNCTIONS = {
    "cpu_offload": ("execution_device", 1, True),
    "disk_offload": ("execution_device", 2, True),
    "cpu_offload_with_hook": ("execution_device", 1, False),
    "apply_group_offloading": ("onload_device", 1, True),
}
#: Methods of a model or pipeline that do.
METHODS = {
    "enable_model_cpu_offload": ("device", 1, False),
    "enable_sequential_cpu_offload": ("device", 1, True),
    "enable_group_offload": ("onload_device", 0, True),
}


#: Functions that shard the model that they are given -> the keyword of what they offload.
SHARDING = {"FullyShardedDataParallel": "cpu_offload", "fully_shard": "offload_policy"}
#: Functions of accelerate that bring the weights of an offloaded module back, for a ``with`` or for good.
_RELEASING = ("remove_hook", "align_module_device")
#: Of the functions and methods those that bring what a module gives back to where its input was.
_GIVES_BACK = frozenset({"cpu_offload", "disk_offload"})
#: Those that leave a module on the GPU after its forward, until another one runs.
_WAITS = frozenset({"cpu_offload_with_hook", "enable_model_cpu_offload"})


def offloaded_by(
    machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a function that offloads a module gives, or brings its weights back; None for others."""
    model = given.listed[0].value if given.listed else None
    if isinstance(model, Module) and last.startswith(_RELEASING):
        released(model)
        return model
    if last not in _FUNCTIONS or not given.listed:
        return None
    if not isinstance(model, Module):
        return Unknown()
    name, position, parts = _FUNCTIONS[last]
    hook(machine, model, given.get(name, position), parts, node, frame)
    if last != "cpu_offload_with_hook":
        return model
    before = given.told("prev_module_hook", 2)
    return Items([model, hook_of(model, before.value if before is not None else None)])


def sharded(
    machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """A model that FSDP keeps on the host but for its forward; None for what offloads nothing."""
    model = given.listed[0].value if given.listed else None
    said = given.named.get(SHARDING.get(last, ""))
    policy = _policy(said.node, frame) if said is not None else None
    if (
        last == "fully_shard"
        and said is None
        and isinstance(model, Module)
        and model.where() == CPU
    ):
        model.move(machine.home(), Step(EventKind.MOVED, machine.spot(node, frame), machine.home()))
        return model  # its shards are on the GPUs of the mesh
    if not isinstance(model, Module) or policy is None:
        return None
    told = arguments(policy)
    if called(policy) == "CPUOffload" and not any(_is_on(machine, one, frame) for one in told):
        return None
    hook(machine, model, given.named.get("device_id"), True, node, frame)
    switch = called(policy) == "CPUOffload" and not isinstance(told[0], ast.Constant)
    if switch and _is_on(machine, told[0], frame, also=()):
        step, setting = model.steps[-1], machine.spot(told[0], frame)
        model.steps = (*model.steps[:-1], step._replace(of=setting))
    return model


def _policy(said: ast.expr, frame: Frame) -> ast.Call | None:
    """The call that makes a policy of FSDP's by which it offloads, itself or by its name."""
    if isinstance(said, ast.Name):
        bound = frame.bound.get(said.id)
        return _policy(bound.value, frame) if isinstance(bound, ast.Assign) else None
    offloads = called(said) in ("CPUOffload", "CPUOffloadPolicy")
    return said if isinstance(said, ast.Call) and offloads else None


def _is_on(machine: Machine, said: ast.expr, frame: Frame, *, also: tuple[int, ...] = (1,)) -> bool:
    """Whether an expression is true; a number is no switch."""
    value = machine.evaluate(machine, said, frame)
    told = value.value if isinstance(value, Const) else None
    return told is True or (type(told) is int and told in also)


def offload(
    machine: Machine, model: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """A method that offloads a model, or the models of a pipeline."""
    keyword, position, parts = METHODS[name]
    hook(machine, model, given.get(keyword, position), parts, node, frame)
    for one in () if model.weights else model.children.values():
        hook(machine, one, given.get(keyword, position), parts, node, frame)


def hook(
    machine: Machine,
    module: Module,
    device: Given | None,
    parts: bool,
    node: ast.AST,
    frame: Frame,
) -> None:
    """Keeps a module on the host but for its forward; with ``parts`` each of its parts for its own."""
    runs = machine.asked(device.value) if device is not None else machine.home()
    of = origin(device.value) if device is not None else None
    module.move(CPU, Step(EventKind.OFFLOADED, machine.spot(node, frame), CPU, of))
    for one in module.family():
        if parts or one is module:
            one.runs = runs or HOME


def brought(
    module: Module, given: Arguments, spot: Spot, work: Callable[[Arguments], Value]
) -> Value:
    """What a forward gives that a library brings its module and its inputs to the GPU for."""
    end_turn_before(module)
    device, step = module.runs, Step(EventKind.MOVED, spot, module.runs)
    scope = [
        one for one in module.family() if one is module or module.made is None or one.runs is None
    ]
    kept = [(one, one.device, one.tensors, one.runs) for one in scope]
    last = last_of(module.steps, EventKind.OFFLOADED)
    waits = last is not None and called(last.spot.node) in _WAITS
    for one in scope:
        one.device = device if one.weights else one.device
        one.tensors = {name: tensor.like(device) for name, tensor in one.tensors.items()}
        one.runs = None
    listed = [one._replace(value=moved(one.value, device, step)) for one in given.listed]
    named = {
        name: one._replace(value=moved(one.value, device, step))
        for name, one in given.named.items()
    }
    back = last is not None and called(last.spot.node) in _GIVES_BACK
    try:
        found = work(Arguments(listed, named, given.open))
        return given_back(found, given, spot) if back else found
    finally:
        for one, where, tensors, runs in kept:
            one.device, one.tensors, one.runs = where, tensors, runs
            if waits:  # it stays on the GPU until another module is brought there
                one.device = None
                one.tensors = {name: tensor.like(None) for name, tensor in tensors.items()}


def taken_part(machine: Machine, module: Module) -> tuple[Module, Tensor] | None:
    """A part of a module whose weights a library keeps on meta until its forward runs, with one of them; of
    a library's model that its map of devices leaves there. None where there is none."""
    part = next((one for one in module.family() if one.weights and is_taken(one)), None)
    steps = part.steps if part is not None else ()
    spread = next((one for one in reversed(module.steps) if one.device == SPLIT), None)
    if part is None and module.device == SPLIT and spread is not None and on_host(machine, module):
        part, steps = module, (*module.steps, spread._replace(what=EventKind.OFFLOADED))
    if part is None:
        return None
    return part, Tensor(META, Origin.WEIGHT, steps, part.frame, module=part)


def read(machine: Machine, tensor: Tensor, node: ast.AST, frame: Frame) -> Tensor:
    """A weight that is read; of what is offloaded it is known where."""
    if tensor.module is None or not is_offloaded(tensor.module):
        return tensor
    return tensor.like(
        tensor.device, Step(EventKind.READ, machine.spot(node, frame), tensor.device)
    )
