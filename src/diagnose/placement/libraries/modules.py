"""Methods of libraries' modules of which more is known than their names."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.copies import copied
from diagnose.placement.libraries.layers import built
from diagnose.placement.machine import Arguments, Given, Machine, Meets, operands, origin
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Function, Unknown, Value

#: Models of sentences, which take the first GPU by themselves.
SENTENCES = {
    f"sentence_transformers.{name}": name
    for name in ("SentenceTransformer", "CrossEncoder", "SparseEncoder")
}
#: Functions of sentence_transformers that bring together themselves what they are given.
_SEARCHING = frozenset({"semantic_search", "paraphrase_mining", "community_detection"})


def library_method(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a method of a library's module gives; None for others."""
    if owner.kind in SENTENCES:
        return _sentences(machine, owner, name, given, node, frame)
    if name == "adapter_to":
        said = given.get("device", 1)
        device = machine.asked(said.value) if said is not None else None
        owner.steps = (*owner.steps, Step(EventKind.MOVED, machine.spot(node, frame), device))
        return Const(None)
    if name == "propagate" and owner.made is not None:
        return _propagated(machine, owner, given, node, frame)
    if owner.kind.startswith("torchmetrics") and name == "clone":
        return copied(owner, machine.step(EventKind.MADE, node, frame), frame)
    if owner.kind.startswith("torchmetrics") and name == "compute":
        step = machine.step(EventKind.MADE, node, frame, owner.where())
        return Tensor(owner.where(), Origin.OUTPUT, step, frame, module=owner)
    return None


def sentences(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Module:
    """A model of sentences: on the first GPU, or where it is told, with the modules that it is given."""
    found = built(machine, f"sentence_transformers.{last}", node, frame)
    said = given.get("device")
    found.device = machine.asked(said.value) if said else Device(DeviceType.CUDA, 0, home=True)
    if said is not None:
        spot = machine.spot(said.node, frame)
        found.steps = (*found.steps, Step(EventKind.MOVED, spot, found.device, origin(said.value)))
    parts = given.get("modules", 0)
    for n, part in enumerate(parts.value.items if parts and isinstance(parts.value, Items) else ()):
        if isinstance(part, Module):
            modules.put(machine, found, str(n), part, node, frame)
            part.move(found.device, Step(EventKind.MOVED, machine.spot(node, frame), found.device))
    return found


def _sentences(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """A model of sentences: its tokens are on the cpu, it goes where it is told to encode, and gives arrays
    unless it is told to give tensors."""
    if name in ("tokenize", "preprocess"):  # as versions before and from 6 on call it
        made = machine.step(EventKind.MADE, node, frame, CPU)
        return Batch(Tensor(CPU, Origin.TOKENS, made, frame), mutable=True)
    if name == "similarity":
        sides = operands(given)
        if len(sides) == len(given.every()):
            machine.meet(ConstraintKind.JOIN, node, frame, sides)
        arrays = given.every() and all(is_array(one.value) for one in given.every())
        device = CPU if arrays else sides[0].tensor.device if sides else None
        return Tensor(
            device, Origin.LIBRARY, machine.step(EventKind.MADE, node, frame, device), frame
        )
    if not name.startswith(("encode", "predict")):
        return None
    said = given.told("device")
    if said is not None:
        device = machine.asked(said.value)
        owner.move(device, Step(EventKind.MOVED, machine.spot(node, frame), device))
    features: Value = Table({}, Tensor(owner.where(), Origin.GIVEN))
    for part in owner.children.values() if name.startswith("encode") else ():
        if part.made is not None and isinstance(features, Table):
            listed = Arguments([Given(ast.Name("features"), features)])
            features = machine.invoke(machine, part, listed, node, frame)
    tensor, array = given.named.get("convert_to_tensor"), given.named.get("convert_to_numpy")
    if tensor is not None and not isinstance(tensor.value, Const):
        return Unknown()
    where = owner.where()
    tensors = Tensor(
        where, Origin.OUTPUT, machine.step(EventKind.MADE, node, frame, where), frame, module=owner
    )
    if tensor is not None and isinstance(tensor.value, Const) and tensor.value.value:
        return tensors
    off = array is not None and isinstance(array.value, Const) and array.value.value is False
    return Items([], tensors) if off else Unknown("array")


def is_array(value: Value) -> bool:
    """Whether a value is an array of NumPy's."""
    return isinstance(value, Unknown) and value.word == "array"


def searching(last: str) -> bool:
    """Whether a function brings together itself what it is given."""
    return last in _SEARCHING


def _propagated(
    machine: Machine, owner: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a layer of a graph hands from node to node: its own methods are told the values of both ends."""
    assert owner.made is not None
    first = next((t for one in given.named.values() for t in tensors_in(one.value)), None)
    if first is None or not any(n.endswith("MessagePassing") for n in owner.made.names()):
        return None
    message = owner.made.find("message")
    if isinstance(message, Function):
        ends = {f"{name}_{end}": one for name, one in given.named.items() for end in "ij"}
        args = message.node.args
        names = [one.arg for one in args.args[1:]]
        known = {**given.named, **ends}
        handed = {name: known[name] for name in names if name in known}
        machine.invoke(machine, message.bound(owner), Arguments((), handed), node, frame)
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
            weight = Tensor(one.where(), Origin.WEIGHT, one.steps, one.frame, module=one)
            machine.meet(ConstraintKind.CALL, node, frame, [Meets(node, one, weight), *others])


def leaves_new(module: Module) -> bool:
    """Whether a library leaves on the cpu what it puts into a model that was moved."""
    return module.kind.startswith("adapters.") or "<adapters>" in module.plain


def keep_inputs(
    machine: Machine, owner: Module, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """What a process is trained with moves with it, as its likelihood does."""
    likelihood = given.get("likelihood", 2)
    if likelihood is not None and isinstance(likelihood.value, Module):
        modules.put(machine, owner, "likelihood", likelihood.value, node, frame)
    for word, one in zip(("train_inputs", "train_targets"), given.listed, strict=False):
        if isinstance(one.value, Tensor):
            held = one.value.like(one.value.device)
            held.maker, held.module, held.name = Origin.WEIGHT, owner, word
            modules.put(machine, owner, word, held, node, frame)
