"""Device maps: where a library puts the parts of a model, and brings their inputs and outputs; modules
that it keeps on the host and brings to the GPU for their forward, or while it is their turn.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import CPU, HOME, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.libraries.weights import is_taken, released
from diagnose.placement.machine import Arguments, Given, Machine, origin
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import is_offloaded, last_of
from diagnose.placement.semantics import arguments, called
from diagnose.placement.tensors import Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Unknown, Value

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


#: What such a hook is, and what it and its module are kept by: no attributes of a program's.
HOOK = "accelerate.UserCpuOffloadHook"
_MODULE, _BEFORE = "<module>", "<before>"


def hook_of(module: Module, before: Value | None) -> Object:
    """The hook of a module that waits on the host, and whose turn ends that of another one's.

    Args:
        module: the module.
        before: ``prev_module_hook=``.
    """
    found = Object(HOOK)
    found.attributes[_MODULE] = module
    if isinstance(before, Object) and before.kind == HOOK:
        module.plain[_BEFORE] = before
    return found


def end_turn_before(module: Module) -> None:
    """A module is brought to the GPU: the one whose hook it was told goes back to the host."""
    before = module.plain.get(_BEFORE)
    if isinstance(before, Object):
        _sent_back(before)


def ends_turn(owner: Object, call: CallSite) -> Value:
    """``offload`` takes the module of a hook back to the host."""
    _sent_back(owner)
    return Const(None)


def may_bring(owner: Object, call: CallSite) -> Value:
    """Other methods of a hook may bring its module."""
    module = owner.attributes[_MODULE]
    if isinstance(module, Module):
        released(module)
    return Unknown()


def _sent_back(hook: Object) -> None:
    module = hook.attributes[_MODULE]
    if not isinstance(module, Module) or module.runs is None:
        return
    offloaded = last_of(module.steps, EventKind.OFFLOADED)
    if offloaded is not None:
        module.move(CPU, offloaded)
