"""What calls and methods of modules do to placement, and what of the user's a model runs while it
generates (transformers' documentation, "Generation", "Utilities for Generation").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.libraries.device_maps import brought, given_part, gives_back, taken_part
from diagnose.placement.libraries.general import given
from diagnose.placement.libraries.layers import (
    fill,
    keep_inputs,
    keeps_config,
    keeps_inputs,
    leaves_new,
    passed,
    within,
)
from diagnose.placement.libraries.models import pictures
from diagnose.placement.libraries.tensor_methods import is_move, move, target, unknown_arguments
from diagnose.placement.libraries.weights import averaged, empty_tensors
from diagnose.placement.machine import Arguments, Given, Machine, Meets, generating, operands
from diagnose.placement.model import Device, Step
from diagnose.placement.provenance import last_of
from diagnose.placement.tensors import Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Unknown, Value


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


def _where_it_gives(module: Module, inputs: Sequence[Meets], call: CallSite) -> Device | None:
    """Where the output of a module is."""
    where = module.where()
    if "device" in call.given.named:  # a method that is told where to
        return call.device("device")
    if where == SPLIT:
        return inputs[0].tensor.device if inputs and gives_back(module) else None
    if where is None:
        return next((side.tensor.device for side in inputs if side.tensor.device), None)
    return where


def applied(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A library's module meets its inputs, and its parts meet each other."""
    if (same := passed(module, given)) is not None:
        return same
    last = module.kind.rpartition(".")[2]
    if last in machine.torch.bringing:
        given = Arguments(given.listed[:1])
    # A loss of torch takes no lists, and one that does takes them apart itself, or hands them to its model.
    if last.endswith(("Loss", "Criterion")) and not module.children:
        given = given._replace(listed=[x for x in given.listed if not isinstance(x.value, Items)])
    call = CallSite(machine, "__call__", given, node, frame, module)
    _draws(module, call)
    where, inputs = module.where(), operands(given)
    if module.kind.startswith("diffusers") and last.endswith("Pipeline"):
        return pictures(call, where)
    sides = [*_weights(module, getattr(node, "func", node)), *inputs]
    sides += _grown(module, getattr(node, "func", node))
    if where != SPLIT and sides:
        call.meet(ConstraintKind.CALL, [*sides, *unknown_arguments(given)])
    device = _where_it_gives(module, inputs, call)
    output = call.tensor(device, Origin.OUTPUT, module=module)
    if len(inputs) == 1 and _only_computes(module):  # it is what it was, padded or scaled
        output = inputs[0].tensor.computed(device)
    for one in module.family() if where != SPLIT else ():
        if one is not module:  # a part, which runs within it
            within(machine, one, given, output.like(one.where()), node, frame)
    return _result(module, output)


def _result(module: Module, output: Tensor) -> Value:
    """What a module gives: its output, or that with other tensors beside it."""
    match module.kind:
        case "LSTM":
            return Items([output, Items([output.like(output.device), output.like(output.device)])])
        case "GRU" | "RNN" | "MultiheadAttention":
            return Items([output, output.like(output.device)])
    output.scalar |= module.kind.endswith("Loss")
    return Batch(output) if module.kind.startswith(("transformers", "diffusers")) else output


def _weights(module: Module, called: ast.AST) -> list[Meets]:
    """What of a module its inputs meet: its tensors, and a weight of each part that is elsewhere."""
    sides, where = list[Meets](), module.where()
    for one in module.family():
        for name, tensor in one.tensors.items():
            sides.insert(0, Meets(called, _with(tensor, one, name), tensor))
        if one.weights and (one is module or one.device != where):
            weight = Tensor(
                one.device, Origin.WEIGHT, one.steps, one.frame, module=one, name="weight"
            )
            sides.insert(0, Meets(called, one, weight))
    return sides


def _grown(module: Module, called: ast.AST) -> Iterator[Meets]:
    """What a library has put into a module that had moved: on the cpu, or it may be there still."""
    apart = last_of(module.steps, EventKind.GROWN_APART, EventKind.MOVED)
    if (
        apart is not None
        and apart.what == EventKind.GROWN_APART
        and apart.device not in (None, CPU)
    ):
        steps = (apart._replace(what=EventKind.GROWN),)
        added = Tensor(CPU, Origin.GROWN, steps, module.grew, module=module)
        yield Meets(called, added, added)
    grown = [s for s in module.steps if s.what == EventKind.GROWN and s.device not in (None, CPU)]
    if grown:
        added = Tensor(None, Origin.GROWN, (grown[-1],), module.grew, module=module)
        yield Meets(called, added, added)


def _only_computes(module: Module) -> bool:
    """Whether a layer of torch has no weights."""
    return not (module.weights or module.made or module.children or module.tensors)


def _draws(module: Module, call: CallSite) -> None:
    """A generator that is handed to a module, or one of a list, draws where the module's weights are."""
    brings = module.kind.startswith("diffusers") or module.kind.endswith("Pipeline")
    for one in call.given.every():
        first = (
            one.value.items[0] if isinstance(one.value, Items) and one.value.items else one.value
        )
        drawn = generating(one._replace(value=first))
        if drawn is not None and not (brings and drawn.tensor.device == CPU):
            here = weight_of(module)
            call.meet(ConstraintKind.GENERATOR, [drawn, Meets(call.node, here, here)])


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
            return one, weight_of(one)
    return next(((one, tensor) for one, _, tensor in empty_tensors(module)), None)


#: Methods of diffusers' models that a library brings them to the GPU for, as for their forward.
_HOOKED = ("encode", "decode")
#: Layers of a module that ``apply`` is followed into, and that are told apart by their names.
_APPLIED = _NAMED = 8


def moves_module(owner: Module, call: CallSite) -> Value:
    """``to``, ``cuda`` and their like move a module, where they do not name a type; they give it back."""
    if not is_move(call):
        return owner
    device, empty = target(call), _empty_weight(owner)
    if empty is None and device is not None and device.type == DeviceType.CUDA:
        empty = taken_part(call.machine, owner)
    if call.effect.gives != "empty" and empty is not None:
        call.meet(ConstraintKind.META, [Meets(call.node, *empty)])
    if owner.where() != SPLIT:
        step = move(call, device)
        frame = call.frame
        if device == CPU and frame.call is not None and _is_parameter(call.node, frame):
            step = step._replace(spot=frame.call)
        owner.move(device, step)
    whole = owner.owner
    if whole is not None and whole.children.get(modules.SOME) is owner:
        whole.device = None  # of its other parts nobody knows whether they moved, too
    return owner


def begins(owner: Module, call: CallSite) -> Value:
    """The ``__init__`` of a base: of a container, of a library's model, of torch's own module."""
    config = call.given.get("config", 0)
    if config is not None and keeps_config(owner):
        owner.plain["config"] = config.value
    if keeps_inputs(owner):
        keep_inputs(owner, call)
    modules.taken(owner, [one.value for one in call.given.every()])
    if "device" in call.given.named:
        owner.plain.setdefault("device", call.given.named["device"].value)
    if (kind := modules.container(call.machine, owner)) is not None:
        fill(call, owner, kind)
    return Const(None)


def registers(owner: Module, call: CallSite) -> Value | None:
    """A buffer or parameter gets its name."""
    said, value = call.given.text("name", 0), call.given.get(call.effect.of, 1)
    if said is None:
        return None
    if value is not None:
        modules.buffer(call.machine, owner, said, value.value, call.node, call.frame)
    if call.told("persistent", 2) is False:
        owner.unsaved.add(said)
    return Const(None)


def _put(owner: Module, name: str, value: Value, call: CallSite) -> None:
    modules.put(call.machine, owner, name, value, call.node, call.frame)


def puts(owner: Module, call: CallSite) -> Value | None:
    """A part: under the name that it is told, that of the row, or the next number."""
    named, listed = "name" in call.effect.takes, call.given.listed
    if len(listed) < 1 + named:
        return None
    told = call.given.text("name", 0) or "?"
    _put(
        owner, told if named else call.effect.of or str(len(owner.children)), listed[-1].value, call
    )
    return given(call)


def extends(owner: Module, call: CallSite) -> Value | None:
    """A list or dict of modules gets those of another."""
    match call.first:
        case Table() as table:
            for key, each in table.items.items():
                _put(owner, str(key), each, call)
            return Const(None)
        case Items() as row:
            for each in row.every():
                _put(owner, str(len(owner.children)), each, call)
            return owner
    return None


def gives(owner: Module, call: CallSite) -> Value | None:
    """What it holds, as the row says: its weights, its parts, some of them with their names."""
    target, parts = call.given.text("target", 0), list(owner.children.values())
    match call.effect.gives:
        case "weights":
            return modules.weights(owner)
        case "named-weights":
            return modules.weights(owner, Unknown("name"))
        case "weight":
            return owner.tensors.get(target or "", Unknown())
        case "state":
            return Table({}, modules.any_weight(owner))
        case "parts":
            return Items([*parts], None if parts else modules.some_part(owner))
        case "own-part" if owner.made is None:
            return modules.given_by(owner, call.name)
        case "part":
            asked = modules.at(owner, target) or modules.given_by(owner, call.name)
            return given_part(call.machine, owner, asked, call.name)
        case "named-parts" | "named-modules" as which if 0 < len(parts) <= _NAMED:
            named = modules.named(owner, _NAMED if which == "named-modules" else 0)
            return Items([Items([Const(key), one]) for key, one in named])
        case "named-parts" | "named-modules":
            some: Value = next(iter(parts), None) or modules.some_part(owner)
            return Items([], Items([Unknown("name"), some]))
    return None


def hooks(owner: Module, call: CallSite) -> Value | None:
    """What is called after each of its forwards, or before."""
    if call.first is None:
        return None
    (owner.before if call.effect.gives == "before" else owner.hooks).append(call.first)
    return Unknown("handle")


def applies(owner: Module, call: CallSite) -> Value | None:
    """It hands its parts to a function, and then itself."""
    if call.first is None:
        return None
    parts = sorted(owner.family(), key=lambda one: one is owner)[:_APPLIED]
    for one in parts:
        call.run(call.first, Arguments([Given(call.given.listed[0].node, one)]))
    return owner


def spreads(owner: Module, call: CallSite) -> Value:
    """It spreads its parts over the GPUs."""
    owner.move(SPLIT, call.moves(SPLIT))
    return Const(None)


def grows(owner: Module, call: CallSite) -> Value:
    """New layers are put into it, which a library may leave on the cpu."""
    what = EventKind.GROWN_APART if leaves_new(owner) else EventKind.GROWN
    owner.steps = (*owner.steps, Step(what, call.spot, owner.where()))
    owner.grew = call.frame
    return Unknown()


def other_method(owner: Module, call: CallSite) -> Value:
    """What a method gives that no row names: one that runs the module, or may."""
    given, node, frame = call.given, call.node, call.frame
    if averaged(owner, call):
        return Const(None)
    if is_plain(call.machine, call.name):
        return Unknown()
    if owner.made is None and is_method(call.machine, call.name):
        if owner.runs is not None and owner.kind.startswith("diffusers") and call.name in _HOOKED:
            return brought(
                owner,
                given,
                call.spot,
                lambda given: applied(call.machine, owner, given, node, frame),
            )
        # What comes second may be positions, which pick from anywhere; of a metric it is the target.
        if not owner.kind.startswith("torchmetrics"):
            given = given._replace(listed=given.listed[:1])
        return applied(call.machine, owner, given, node, frame)
    sides = operands(given)
    if owner.made is None and sides:  # whether its weights are used, its name does not tell
        call.meet(ConstraintKind.LIBRARY, [Meets(node, owner, weight_of(owner)), *sides])
        return call.tensor(None, Origin.OUTPUT, module=owner)
    return Unknown()


def generates(owner: Module, call: CallSite) -> Value | None:
    """A model that generates runs what it is handed for that."""
    if owner.made is None:
        generated(owner, call)
    return None


#: What ``generate`` calls such objects with: all is where the model is.
GIVEN = ("input_ids", "scores")


def generated(model: Module, call: CallSite) -> None:
    """Processors of logits and criteria that a model is handed run on what is where the model is."""
    where = model.where()
    if where is None or where == SPLIT:
        return
    for word in sorted(call.machine.torch.generation_arguments):
        said = call.given.told(word)
        listed = said.value if said is not None else None
        for one in listed.items if isinstance(listed, Items) else ():
            if isinstance(one, Object) and one.made is not None:
                tensors = [Given(ast.Name(name), Tensor(where, Origin.GIVEN)) for name in GIVEN]
                call.run(one, Arguments(tensors))
