"""What calls and methods of modules do to placement."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.checkpoints import loaded_into
from diagnose.placement.libraries.copies import averaged
from diagnose.placement.libraries.device_maps import given_part, gives_back
from diagnose.placement.libraries.diffusers import pictures
from diagnose.placement.libraries.forward_hooks import within
from diagnose.placement.libraries.generation import generated
from diagnose.placement.libraries.layers import fill, passed
from diagnose.placement.libraries.meta_modules import (
    empty_tensors,
    filled_elsewhere,
    may_fill,
    released,
)
from diagnose.placement.libraries.modules import (
    keep_inputs,
    keeps_config,
    keeps_inputs,
    leaves_new,
    library_method,
)
from diagnose.placement.libraries.offload import METHODS, brought, offload, taken_part
from diagnose.placement.libraries.tensor_methods import move, moves, target, unknown_arguments
from diagnose.placement.machine import Arguments, Given, Machine, Meets, generating, operands
from diagnose.placement.model import Step
from diagnose.placement.provenance import last_of
from diagnose.placement.tensors import Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Unknown, Value


def is_method(machine: Machine, name: str) -> bool:
    """Whether a name of a library's module is a method that runs it."""
    words = machine.torch.running_prefixes
    return any(name == word or name.startswith(f"{word.rstrip('_')}_") for word in words)


def is_plain(machine: Machine, name: str) -> bool:
    """Whether a name of a module is a method that brings no tensors together."""
    torch = machine.torch
    return name in torch.module_methods or name in torch.other_module_methods


def _is_parameter(call: ast.AST, frame: Frame) -> bool:
    """Whether the method of a parameter is called, of each that one holds, or of what one chooses."""
    owner = (
        call.func.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        else None
    )
    if isinstance(owner, ast.Subscript):
        owner = owner.slice
    if not isinstance(owner, ast.Name):
        return False
    bound = frame.bound.get(owner.id)
    if isinstance(bound, ast.For) and isinstance(bound.iter, ast.Name):
        return frame.lines.get(bound.iter.id) == 0
    return bound is None and frame.lines.get(owner.id) == 0


#: Layers of a module that ``apply`` is followed into, and that are told apart by their names.
_APPLIED = _NAMED = 8


def applied(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A library's module meets its inputs, and its parts meet each other."""
    where = module.where()
    if (same := passed(module, given)) is not None:
        return same
    if module.kind.rpartition(".")[2] in machine.torch.bringing:
        given = Arguments(given.listed[:1])
    # A loss of torch takes no lists, and one that does takes them apart itself, or hands them to its model.
    if module.kind.endswith(("Loss", "Criterion")) and not module.children:
        given = given._replace(listed=[x for x in given.listed if not isinstance(x.value, Items)])
    inputs = operands(given)
    if module.kind.endswith("Pipeline") and module.kind.startswith("diffusers"):
        _draws(machine, module, given, node, frame)
        return pictures(machine, where, given, node, frame)
    sides = list(inputs)
    called = getattr(node, "func", node)
    for one in module.family():
        for name, tensor in one.tensors.items():
            sides.insert(0, Meets(called, _with(tensor, one, name), tensor))
        if one.weights and (one is module or one.device != where):
            weight = Tensor(
                one.device, Origin.WEIGHT, one.steps, one.frame, module=one, name="weight"
            )
            sides.insert(0, Meets(called, one, weight))
    apart = last_of(module.steps, EventKind.GROWN_APART, EventKind.MOVED)
    if (
        apart is not None
        and apart.what == EventKind.GROWN_APART
        and apart.device not in (None, CPU)
    ):
        steps = (apart._replace(what=EventKind.GROWN),)
        added = Tensor(CPU, Origin.GROWN, steps, module.grew, module=module)
        sides.append(Meets(called, added, added))
    grown = [s for s in module.steps if s.what == EventKind.GROWN and s.device not in (None, CPU)]
    if grown:  # what it has put in may be on the cpu still
        added = Tensor(None, Origin.GROWN, (grown[-1],), module.grew, module=module)
        sides.append(Meets(called, added, added))
    _draws(machine, module, given, node, frame)
    if where != SPLIT and sides:
        machine.meet(ConstraintKind.CALL, node, frame, [*sides, *unknown_arguments(given)])
    device = where
    if where == SPLIT:
        device = inputs[0].tensor.device if inputs and gives_back(module) else None
    elif where is None:
        device = next((side.tensor.device for side in inputs if side.tensor.device), None)
    if "device" in given.named:  # a method that is told where to
        device = machine.asked(given.named["device"].value)
    made = machine.step(EventKind.MADE, node, frame, device)
    output = Tensor(device, Origin.OUTPUT, made, frame, module=module)
    if len(inputs) == 1 and _only_computes(module):  # it is what it was, padded or scaled
        output = inputs[0].tensor.computed(device)
    for one in module.family() if where != SPLIT else ():
        if one is not module:  # a part, which runs within it
            within(machine, one, given, output.like(one.where()), node, frame)
    if module.kind in ("LSTM", "GRU", "RNN"):
        hidden = Items([output.like(device), output.like(device)])
        return Items([output, hidden if module.kind == "LSTM" else output.like(device)])
    if module.kind == "MultiheadAttention":
        return Items([output, output.like(device)])
    if module.kind.endswith("Loss"):
        output.scalar = True
    return Batch(output) if module.kind.startswith(("transformers", "diffusers")) else output


def _only_computes(module: Module) -> bool:
    """Whether a layer of torch has no weights."""
    return not (module.weights or module.made or module.children or module.tensors)


def _draws(machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame) -> None:
    """A generator that is handed to a module, or one of a list, draws where the module's weights are."""
    brings = module.kind.startswith("diffusers") or module.kind.endswith("Pipeline")
    for one in given.every():
        first = (
            one.value.items[0] if isinstance(one.value, Items) and one.value.items else one.value
        )
        drawn = generating(one._replace(value=first))
        if drawn is not None and not (brings and drawn.tensor.device == CPU):
            here = Tensor(module.where(), Origin.WEIGHT, module.steps, module.frame, module=module)
            machine.meet(ConstraintKind.GENERATOR, node, frame, [drawn, Meets(node, here, here)])


def _with(tensor: Tensor, module: Module, name: str) -> Tensor:
    """A tensor of a module that remembers whose it is."""
    if tensor.module is None:
        tensor.module, tensor.name = module, name
    return tensor


def _empty_weight(module: Module) -> tuple[Module, Tensor] | None:
    """A weight that was made on meta, and is there still or may be, for only a part of its module was
    filled since, with that module; None where all have memory."""
    for one in module.family():
        last = one.steps[-1] if one.steps else None
        partly = last is not None and last.what == EventKind.LOADED and last.device == META
        if one.where() == META or partly:
            return one, Tensor(one.where(), Origin.WEIGHT, one.steps, one.frame, module=one)
    return next(((one, tensor) for one, _, tensor in empty_tensors(module)), None)


#: Methods of diffusers' models that a library brings them to the GPU for, as for their forward.
_HOOKED = ("encode", "decode")


def module_method(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a module gives."""
    if name in machine.torch.moves or name in ("to_empty", "type"):
        if moves(machine, given, name):
            device = target(machine, name, given)
            before = owner.where()
            empty = _empty_weight(owner)
            if empty is None and device is not None and device.type == DeviceType.CUDA:
                empty = taken_part(machine, owner)
            if name != "to_empty" and empty is not None:
                machine.meet(ConstraintKind.META, node, frame, [Meets(node, *empty)])
            if before != SPLIT:
                step = move(machine, given, node, frame, device)
                if device == CPU and frame.call is not None and _is_parameter(node, frame):
                    step = step._replace(spot=frame.call)
                owner.move(device, step)
            whole = owner.owner
            if whole is not None and whole.children.get(modules.SOME) is owner:
                whole.device = None  # of its other parts nobody knows whether they moved, too
        return owner
    if name == "__init__":  # of a class that is built on a container, or on a library's model
        config = given.get("config", 0)
        if config is not None and keeps_config(owner):
            owner.plain["config"] = config.value
        if keeps_inputs(owner):
            keep_inputs(machine, owner, given, node, frame)
        modules.taken(owner, [one.value for one in given.every()])
        if "device" in given.named:
            owner.plain.setdefault("device", given.named["device"].value)
        if (kind := modules.container(machine, owner)) is not None:
            fill(machine, owner, kind, given, node, frame)
        return Const(None)
    if name in ("register_buffer", "register_parameter") and (said := given.text("name", 0)):
        value = given.get("tensor", 1) or given.get("param", 1)
        if value is not None:
            modules.buffer(machine, owner, said, value.value, node, frame)
        kept = given.get("persistent", 2)
        if kept is not None and isinstance(kept.value, Const) and not kept.value.value:
            owner.unsaved.add(said)
        return Const(None)
    if name in ("add_module", "register_module") and len(given.listed) > 1:
        modules.put(
            machine, owner, given.text("name", 0) or "?", given.listed[1].value, node, frame
        )
        return Const(None)
    if name in ("set_input_embeddings", "set_output_embeddings") and given.listed:
        part = name.replace("set_", "get_", 1) + "()"  # what gives it (`modules.given_by`)
        modules.put(machine, owner, part, given.listed[0].value, node, frame)
        return Const(None)
    if name in ("append", "insert") and given.listed:
        modules.put(machine, owner, str(len(owner.children)), given.listed[-1].value, node, frame)
        return owner
    if name == "update" and given.listed and isinstance(given.listed[0].value, Table):
        for key, each in given.listed[0].value.items.items():
            modules.put(machine, owner, str(key), each, node, frame)
        return Const(None)
    if name == "extend" and given.listed and isinstance(given.listed[0].value, Items):
        for each in given.listed[0].value.every():
            modules.put(machine, owner, str(len(owner.children)), each, node, frame)
        return owner
    if may_fill(name, node, frame.source):
        filled_elsewhere(owner, Step(EventKind.FILLED, machine.spot(node, frame)))
    if name in ("parameters", "buffers"):
        return modules.weights(owner)
    if name in ("named_parameters", "named_buffers"):
        return modules.weights(owner, Unknown("name"))
    if name in ("children", "modules", "values"):
        found = list(owner.children.values())
        return Items(list(found), None if found else modules.some_part(owner))
    if name in ("named_children", "named_modules", "items"):
        if 0 < len(owner.children) <= _NAMED:
            named = modules.named(owner, _NAMED if name == "named_modules" else 0)
            return Items([Items([Const(key), one]) for key, one in named])
        some: Value = next(iter(owner.children.values()), None) or modules.some_part(owner)
        return Items([], Items([Unknown("name"), some]))
    if name == "state_dict":
        return Table({}, modules.any_weight(owner))
    if name in ("get_buffer", "get_parameter"):
        return owner.tensors.get(given.text("target", 0) or "", Unknown())
    if name == "get_base_model":
        return owner
    if name in ("get_encoder", "get_decoder") and owner.made is None:
        return modules.given_by(owner, name)
    if (made := library_method(machine, owner, name, given, node, frame)) is not None:
        return made
    if name in ("get_input_embeddings", "get_output_embeddings", "get_submodule"):
        asked = modules.at(owner, given.text("target", 0)) or modules.given_by(owner, name)
        return given_part(machine, owner, asked, name)
    if name in ("register_forward_hook", "register_forward_pre_hook") and given.listed:
        hooks = owner.before if name == "register_forward_pre_hook" else owner.hooks
        hooks.append(given.listed[0].value)
        return Unknown("handle")
    if name == "apply" and given.listed:
        parts = sorted(owner.family(), key=lambda one: one is owner)[:_APPLIED]
        for one in parts:
            listed = Arguments([Given(given.listed[0].node, one)])
            machine.invoke(machine, given.listed[0].value, listed, node, frame)
        return owner
    if averaged(machine, owner, name, given, node, frame):
        return Const(None)
    if name in METHODS:
        offload(machine, owner, name, given, node, frame)
        return Const(None)
    if name == "remove_all_hooks":
        released(owner)
        return Const(None)
    if name == "parallelize":
        owner.move(SPLIT, Step(EventKind.MOVED, machine.spot(node, frame), SPLIT))
        return Const(None)
    if name == "merge_and_unload" or name in machine.torch.module_results:
        return owner
    if name == "load_state_dict":
        loaded_into(owner, given, machine.spot(node, frame))
        return Unknown()
    if name in machine.torch.growing:
        what = EventKind.GROWN if not leaves_new(owner) else EventKind.GROWN_APART
        owner.steps = (*owner.steps, Step(what, machine.spot(node, frame), owner.where()))
        owner.grew = frame
    if is_plain(machine, name):
        return Unknown()
    if owner.made is None and is_method(machine, name):
        if owner.runs is not None and owner.kind.startswith("diffusers") and name in _HOOKED:
            spot = machine.spot(node, frame)
            return brought(
                owner, given, spot, lambda given: applied(machine, owner, given, node, frame)
            )
        if name == "generate":
            generated(machine, owner, given, node, frame)
        # What comes second may be positions, which pick from anywhere; of a metric it is the target.
        if not owner.kind.startswith("torchmetrics"):
            given = given._replace(listed=given.listed[:1])
        return applied(machine, owner, given, node, frame)
    sides = operands(given)
    if owner.made is None and sides:  # whether its weights are used, its name does not tell
        weight = Tensor(owner.where(), Origin.WEIGHT, owner.steps, owner.frame, module=owner)
        machine.meet(ConstraintKind.LIBRARY, node, frame, [Meets(node, owner, weight), *sides])
        return Tensor(
            None, Origin.OUTPUT, machine.step(EventKind.MADE, node, frame), frame, module=owner
        )
    return Unknown()
