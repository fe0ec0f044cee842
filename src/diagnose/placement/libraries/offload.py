"""Modules that a library keeps on the host and brings to the GPU for their forward."""

from __future__ import annotations

import ast
from collections.abc import Callable

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, HOME, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite
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

#: Functions that shard the model that they are given -> the keyword of what they offload.
SHARDING = {"FullyShardedDataParallel": "cpu_offload", "fully_shard": "offload_policy"}
#: Of the functions and methods those that bring what a module gives back to where its input was.
_GIVES_BACK = frozenset({"cpu_offload", "disk_offload"})
#: Those that leave a module on the GPU after its forward, until another one runs.
_WAITS = frozenset({"cpu_offload_with_hook", "enable_model_cpu_offload"})


def offloads_parts(call: CallSite) -> Value | None:
    """It keeps a model on the host; each of its parts is brought to the GPU for its own forward."""
    return _offloads(call, parts=True)


def offloads(call: CallSite) -> Value | None:
    """It keeps a model, or the models of a pipeline, on the host; each is brought to the GPU as a whole."""
    return _offloads(call, parts=False)


def _offloads(call: CallSite, *, parts: bool) -> Value | None:
    model = call.first if call.owner is None else call.owner
    device = call.given.get(call.effect.to, call.effect.takes.index(call.effect.to))
    if not isinstance(model, Module):
        return None if model is None else Unknown()
    hook(call, model, device, parts)
    if call.owner is None:
        return model
    for one in () if model.weights else model.children.values():
        hook(call, one, device, parts)
    return Const(None)


def offloads_in_turns(call: CallSite) -> Value | None:
    """It offloads a model, and gives the hook by which that takes turns with others, too."""
    model, before = offloads(call), call.argument("prev_module_hook")
    if not isinstance(model, Module):
        return model
    return Items([model, hook_of(model, before.value if before is not None else None)])


def brings_back(call: CallSite) -> Value | None:
    """It brings the weights of an offloaded model back, for a ``with`` or for good."""
    model = call.first if call.owner is None else call.owner
    if not isinstance(model, Module):
        return None
    released(model)
    return model if call.owner is None else Const(None)


def shards_on_gpus(call: CallSite) -> Value | None:
    """It shards a model over the GPUs of a mesh, or keeps it on the host where it is told to offload."""
    model = call.first
    if (
        isinstance(model, Module)
        and model.where() == CPU
        and call.argument("offload_policy") is None
    ):
        model.move(call.machine.home(), call.moves(call.machine.home()))
        return model
    return shards(call)


def shards(call: CallSite) -> Value | None:
    """A model that FSDP keeps on the host but for its forward; None for what offloads nothing."""
    said = call.given.named.get(call.effect.of)
    policy = _policy(said.node, call.frame) if said is not None else None
    model = call.first
    if not isinstance(model, Module) or policy is None:
        return None
    told, switched = arguments(policy), called(policy) == "CPUOffload"
    if switched and not any(_is_on(call, one) for one in told):
        return None
    hook(call, model, call.given.named.get("device_id"), parts=True)
    if switched and not isinstance(told[0], ast.Constant) and _is_on(call, told[0], also=()):
        step, setting = model.steps[-1], call.machine.spot(told[0], call.frame)
        model.steps = (*model.steps[:-1], step._replace(of=setting))
    return model


def _policy(said: ast.expr, frame: Frame) -> ast.Call | None:
    """The call that makes a policy of FSDP's by which it offloads, itself or by its name."""
    if isinstance(said, ast.Name):
        bound = frame.bound.get(said.id)
        return _policy(bound.value, frame) if isinstance(bound, ast.Assign) else None
    offloads = called(said) in ("CPUOffload", "CPUOffloadPolicy")
    return said if isinstance(said, ast.Call) and offloads else None


def _is_on(call: CallSite, said: ast.expr, *, also: tuple[int, ...] = (1,)) -> bool:
    """Whether an expression is true; a number is no switch."""
    value = call.machine.evaluate(call.machine, said, call.frame)
    told = value.value if isinstance(value, Const) else None
    return told is True or (type(told) is int and told in also)


def hook(call: CallSite, module: Module, device: Given | None, parts: bool) -> None:
    """Keeps a module on the host but for its forward; with ``parts`` each of its parts for its own."""
    runs = call.machine.asked(device.value) if device is not None else call.machine.home()
    of = origin(device.value) if device is not None else None
    module.move(CPU, Step(EventKind.OFFLOADED, call.spot, CPU, of))
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
    back = last is not None and called(last.spot.node) in _GIVES_BACK
    try:
        found = work(given.changed(lambda value: moved(value, device, step)))
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
