"""Functions of torch that call what they are given: checkpoints, transforms, modules with other weights."""

from __future__ import annotations

import ast

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.libraries.copies import copied
from diagnose.placement.libraries.datasets import item_of
from diagnose.placement.machine import Arguments, Given, Machine, Partial
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.tensors import Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Function,
    Object,
    Unknown,
    Value,
)

#: The function that a transform such as ``torch.func.grad`` makes: called with what it was given before.
_TRANSFORMED = "torch.func.<transformed>"


def functional_call(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a function gives that calls what it is given; None for other functions."""
    first = given.listed[0].value if given.listed else None
    last = dotted.rpartition(".")[2]
    if dotted == "torch.autograd.grad":
        return _gradients(given)
    if first is None:
        return None
    if dotted == _TRANSFORMED:
        machine.invoke(machine, first, given.rest(), node, frame)
        one: Value = given.listed[1].value if len(given.listed) > 1 else Unknown()
        return one.like(one.device) if isinstance(one, Tensor) else one
    if dotted in ("torch.vmap", "torch.func.vmap"):
        return first
    if dotted.startswith("torch.func.") and last in ("grad", "jacrev", "jacfwd", "hessian"):
        return Partial(External(_TRANSFORMED), Arguments(given.listed[:1]))
    if dotted == "torch.utils.checkpoint.checkpoint":
        own = machine.torch.checkpoint_options
        named = {name: one for name, one in given.named.items() if name not in own}
        return machine.invoke(machine, first, given.rest()._replace(named=named), node, frame)
    if dotted in _TRACED and isinstance(first, Module):
        _traced(machine, first, given.get("args", 1) or given.get("example_inputs", 1), node, frame)
        found = Object("exported")
        found.attributes["model"] = first
        return found if dotted == "torch.export.export" else first
    if last == "functional_call" and isinstance(first, Module):
        return _with_other_weights(machine, first, given, node, frame)
    if last == "stack_module_state" and isinstance(first, Items):
        model = next(first.every(), None)
        weight: Value = Unknown()
        if isinstance(model, Module):
            weight = Tensor(model.where(), Origin.OTHER, model.steps)
        return Items([Table({}, weight), Table({}, weight)])
    if dotted == "torch.optim.swa_utils.update_bn":
        return _run_over(machine, given, node, frame)
    if dotted.startswith("torch.Tensor.") and isinstance(first, Tensor | Unknown):
        method = machine.attribute(machine, first, last, node, frame)
        return machine.invoke(machine, method, given.rest(), node, frame)
    return None


#: They run a module on what it is to be traced with.
_TRACED = frozenset({"torch.jit.trace", "torch.onnx.export", "torch.export.export"})


def _gradients(given: Arguments) -> Items | None:
    """The gradients of tensors: each where that is which it is of. None where those are not known."""
    said = given.get("inputs", 1)
    of = said.value if said is not None else None
    if isinstance(of, Items) and isinstance(of.more, Tensor):
        return Items([], of.more.computed(of.more.device), "tuple")
    every = of.items if isinstance(of, Items) and of.more is None else [of]
    known = [one.computed(one.device) for one in every if isinstance(one, Tensor)]
    return Items([*known], kind="tuple") if known and len(known) == len(every) else None


def _traced(
    machine: Machine, module: Module, said: Given | None, node: ast.AST, frame: Frame
) -> None:
    if said is not None:
        every = said.value.items if isinstance(said.value, Items) else [said.value]
        listed = Arguments([Given(said.node, one) for one in every])
        machine.invoke(machine, module, listed, node, frame)


def _with_other_weights(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A module called with weights that are told: it runs where they are, if all are known to be on one
    accelerator; else where its own are, most often."""
    told = given.get("parameter_and_buffer_dicts", 1)
    places = {one.device for one in tensors_in(told.value)} if told is not None else set()
    device = places.pop() if len(places) == 1 else None
    if device is not None and device.type == DeviceType.CUDA and device != module.where():
        module = _brought(module, device, machine.spot(node, frame))
    if module.where() == META:  # it lends its code alone
        return Unknown()
    said, named = given.get("args", 2), given.get("kwargs", 3)
    listed: list[Given] = []
    if said is not None:
        every = said.value.items if isinstance(said.value, Items) else [said.value]
        listed = [Given(said.node, one) for one in every]
    table = named.value.items if named is not None and isinstance(named.value, Table) else {}
    names = {str(key): Given(named.node, one) for key, one in table.items()} if named else {}
    return machine.invoke(machine, module, Arguments(listed, names), node, frame)


def _brought(module: Module, device: Device, spot: Spot) -> Module:
    """A copy of a module with weights on a device: the module itself stays where it is."""
    found = copied(module, ())
    assert isinstance(found, Module)
    found.move(device, Step(EventKind.MOVED, spot, device))
    return found


def _run_over(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Statistics are computed anew: the model is called with the first part of each batch, which goes to
    the device that is told, and stays where it is if none is."""
    loader, model, told = given.get("loader", 0), given.get("model", 1), given.get("device", 2)
    if loader is None or model is None:
        return Const(None)
    batch = item_of(machine, loader.value, node, frame)
    if isinstance(batch, Items):
        batch = next(batch.every(), Unknown())
    if isinstance(batch, Tensor):
        device = machine.asked(told.value) if told is not None else batch.device
        moved = machine.step(EventKind.MOVED, node, frame, device) if told is not None else ()
        loops = batch.steps  # of the program, which this one is none of
        batch = batch.like(device, *moved)
        batch.steps = (*(step for step in loops if step.what != EventKind.BOUND), *moved)
    said = node if isinstance(node, ast.expr) else loader.node
    machine.invoke(machine, model.value, Arguments([Given(said, batch)]), node, frame)
    return Const(None)


def mapped_by(machine: Machine, value: Value | None, node: ast.AST, frame: Frame) -> Value | None:
    """What ``map_location=`` says: a device, or what a function makes of a storage on the cpu."""
    if isinstance(value, Function):
        given = [Given(ast.Name(name), one) for name, one in _STORED]
        return machine.invoke(machine, value, Arguments(given), node, frame)
    if isinstance(value, Table):
        return next(value.every(), None)
    return value


_STORED: tuple[tuple[str, Value], ...] = (("storage", Tensor(CPU)), ("location", Const("cuda:0")))
