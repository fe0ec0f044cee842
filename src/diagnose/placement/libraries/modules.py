"""Methods of libraries' modules of which more is known than their names."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.libraries.layers import built
from diagnose.placement.machine import Arguments, Given, Machine, Meets, operands, origin
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Function, Unknown, Value


def sentence_model(call: CallSite) -> Module:
    """A model of sentences: on the first GPU, or where it is told, with the modules that it is given."""
    found, said = built(call, f"{call.root}.{call.last}"), call.given.get("device")
    home = Device(DeviceType.CUDA, 0, home=True)
    found.device = call.machine.asked(said.value) if said else home
    if said is not None:
        spot = call.machine.spot(said.node, call.frame)
        found.steps = (*found.steps, Step(EventKind.MOVED, spot, found.device, origin(said.value)))
    parts = call.given.get("modules", 0)
    for n, part in enumerate(parts.value.items if parts and isinstance(parts.value, Items) else ()):
        if isinstance(part, Module):
            modules.put(call.machine, found, str(n), part, call.node, call.frame)
            part.move(found.device, call.moves(found.device))
    return found


def compares_sentences(call: CallSite) -> Value:
    """How like sentences are: tensors meet; of arrays it makes tensors on the cpu."""
    sides, every = operands(call.given), call.given.every()
    if len(sides) == len(every):
        call.meet(ConstraintKind.JOIN, sides)
    arrays = every and all(is_array(one.value) for one in every)
    return call.tensor(CPU if arrays else sides[0].tensor.device if sides else None, Origin.LIBRARY)


def predicts(owner: Module, call: CallSite) -> Value:
    """A model of sentences goes where it is told, and gives arrays unless it is told to give tensors."""
    if call.given.told("device") is not None:
        device = call.device("device")
        owner.move(device, call.moves(device))
    tensors, arrays = call.told("convert_to_tensor"), call.told("convert_to_numpy")
    if tensors is None and "convert_to_tensor" in call.given.named:
        return Unknown()
    found = call.tensor(owner.where(), Origin.OUTPUT, module=owner)
    if tensors:
        return found
    return Items([], found) if arrays is False else Unknown("array")


def encodes(owner: Module, call: CallSite) -> Value:
    """The same of what runs the modules that it was made of first."""
    found = predicts(owner, call)
    features: Value = Table({}, Tensor(owner.where(), Origin.GIVEN))
    for part in owner.children.values():
        if part.made is not None and isinstance(features, Table):
            features = call.run(part, Arguments([Given(ast.Name("features"), features)]))
    return found


def moves_adapter(owner: Module, call: CallSite) -> Value:
    """An adapter of a model moves, and the model does not."""
    owner.steps = (*owner.steps, call.moves(call.device("device", 1)))
    return Const(None)


def metric_result(owner: Module, call: CallSite) -> Value:
    """What a metric has computed is where that is."""
    return call.tensor(owner.where(), Origin.OUTPUT, module=owner)


def is_array(value: Value) -> bool:
    """Whether a value is an array of NumPy's."""
    return isinstance(value, Unknown) and value.word == "array"


def propagates(owner: Module, call: CallSite) -> Value | None:
    """What a layer of a graph hands from node to node: its own methods are told the values of both ends."""
    named = call.given.named
    first = next((t for one in named.values() for t in tensors_in(one.value)), None)
    if first is None or owner.made is None:
        return None
    if not any(name.endswith("MessagePassing") for name in owner.made.names()):
        return None
    message = owner.made.find("message")
    if isinstance(message, Function):
        ends = {f"{name}_{end}": one for name, one in named.items() for end in "ij"}
        known = {**named, **ends}
        names = [one.arg for one in message.node.args.args[1:]]
        handed = {name: known[name] for name in names if name in known}
        call.run(message.bound(owner), Arguments((), handed))
    return first.computed(first.device)


def keeps_config(module: Module) -> bool:
    """Whether a base of a module's class keeps the config that it is given."""
    names = module.made.names() if module.made is not None else ()
    return any(name.rpartition(".")[2].casefold() == "pretrainedmodel" for name in names)


def keeps_inputs(module: Module) -> bool:
    """Whether a base of a module's class keeps what it is trained with as its own."""
    names = module.made.names() if module.made is not None else ()
    return any(name.endswith("ExactGP") for name in names)


def compare_inputs(
    machine: Machine, owner: Module, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """What a process is asked about is compared with what it was trained with, and its kernels compute with
    that once their values are asked for."""
    kept = owner.tensors.get("train_inputs")
    if not keeps_inputs(owner) or not (others := operands(given)):
        return
    if isinstance(kept, Tensor):
        machine.meet(ConstraintKind.CALL, node, frame, [Meets(node, owner, kept), *others])
    for one in owner.children.values():
        if one.kind.startswith("gpytorch.") and one.kind.endswith("Kernel"):
            weight = Meets(node, one, weight_of(one))
            machine.meet(ConstraintKind.CALL, node, frame, [weight, *others])


def leaves_new(module: Module) -> bool:
    """Whether a library leaves on the cpu what it puts into a model that was moved."""
    return module.kind.startswith("adapters.") or "<adapters>" in module.plain


def keep_inputs(owner: Module, call: CallSite) -> None:
    """What a process is trained with moves with it, as its likelihood does."""
    likelihood = call.given.get("likelihood", 2)
    if likelihood is not None and isinstance(likelihood.value, Module):
        modules.put(call.machine, owner, "likelihood", likelihood.value, call.node, call.frame)
    for word, one in zip(("train_inputs", "train_targets"), call.given.listed, strict=False):
        if isinstance(one.value, Tensor):
            held = one.value.like(one.value.device)
            held.maker, held.module, held.name = Origin.WEIGHT, owner, word
            modules.put(call.machine, owner, word, held, call.node, call.frame)
