"""What methods of library objects do to placement."""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.libraries.distributions import distribution_method, has_method
from diagnose.placement.libraries.module_methods import module_method
from diagnose.placement.libraries.object_methods import (
    container_method,
    object_method,
    optimizer_method,
)
from diagnose.placement.libraries.tensor_methods import (
    batch_method,
    move,
    names_some,
    target,
    tensor_method,
)
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Step
from diagnose.placement.records import record_method
from diagnose.placement.strings import text_method
from diagnose.placement.tensors import Batch, Distribution, Module, Optimizer, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Class,
    Const,
    External,
    Frame,
    Generator,
    Loader,
    Object,
    Unknown,
    Value,
    static,
)


def method_call(
    machine: Machine, owner: Value, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of a method of a library's object."""
    match owner:
        case Tensor(maker=Origin.LOAD) if name in (
            "items",
            "keys",
            "values",
            "get",
        ):  # it is a dict
            return batch_method(machine, Batch(owner), name, given, node, frame)
        case Tensor():
            return tensor_method(machine, owner, name, given, node, frame)
        case Distribution() if has_method(name):
            return distribution_method(machine, owner, name, given, node, frame)
        case Batch():
            return batch_method(machine, owner, name, given, node, frame)
        case Module():
            return module_method(machine, owner, name, given, node, frame)
        case Items() | Table():
            return container_method(machine, owner, name, given, frame)
        case Object() if (made := record_method(owner, name, given)) is not None:
            return made
        case Object():
            return object_method(machine, owner, name, given, node, frame)
        case Optimizer():
            return optimizer_method(machine, owner, name, given, node, frame)
        case Generator():
            return owner
        case Class():
            return _class(machine, owner, name, given, node, frame)
        case Loader() | Unknown() if name == "with_format" and "device" in given.named:
            device = machine.asked(given.named["device"].value)
            made = Tensor(
                device, Origin.BATCH, machine.step(EventKind.MADE, node, frame, device), frame
            )
            return Loader(Batch(made))
        case Loader() if name in machine.torch.dataset_methods:
            return owner
        case Const() if isinstance(owner.value, str):
            return text_method(machine, owner, name, given, node, frame)
        case Unknown() if name in machine.torch.moves and names_some(given):
            return Unknown()
        case Unknown() if name in machine.torch.moves:
            device = target(machine, name, given)
            return Tensor(device, Origin.OTHER, (move(machine, given, node, frame, device),), frame)
        case Unknown() if name in machine.torch.indexing and given.every():  # a tensor, then
            return tensor_method(machine, Tensor(None), name, given, node, frame)
        case External(dotted="os.environ") if name == "get":
            return Unknown(given.text("", 0) or "")
    return Unknown()


def _class(
    machine: Machine, owner: Class, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in machine.torch.model_loaders and modules.of_class(machine, owner.foreign()):
        made = machine.invoke(machine, owner, Arguments(), node, frame)
        if name == "load_from_checkpoint" and isinstance(made, Module):
            said = given.named.get("map_location")
            device = machine.asked(said.value) if said is not None else None
            made.move(device, Step(EventKind.LOADED, machine.spot(node, frame), device))
        return made
    if name == "apply" and isinstance(owner.find("forward"), Object):
        return _autograd(machine, owner, given, node, frame)
    return Unknown()


def _autograd(
    machine: Machine, owner: Class, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """An autograd function: its forward, and its backward on a gradient that is where the result is."""
    context = Object("ctx")

    def run(name: str, given: Arguments) -> Value:
        function = static(owner.find(name))
        if function is None:
            return Unknown()
        return machine.invoke(machine, function.bound(context), given, node, frame)

    found = run("forward", given)
    run("backward", Arguments([Given(ast.Name("gradient"), found)]))
    return found
