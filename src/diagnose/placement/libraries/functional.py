"""Functions of torch that call what they are given: transforms, modules with other weights."""

from __future__ import annotations

import ast

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.copies import copied
from diagnose.placement.libraries.datasets import item_of
from diagnose.placement.machine import Arguments, Given, Partial
from diagnose.placement.tensors import Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Function, Object, Unknown, Value

#: The function that a transform such as ``torch.func.grad`` makes, as kb/effects.toml calls it.
_TRANSFORMED = "torch.func.transformed"


def transform(call: CallSite) -> Value | None:
    """A function that is called with what it was given, and gives what is where that is."""
    if call.first is None:
        return None
    return Partial(External(_TRANSFORMED), Arguments(call.given.listed[:1]))


def transformed(call: CallSite) -> Value | None:
    """What such a function gives."""
    if call.first is None:
        return None
    call.run(call.first, call.given.rest())
    one: Value = call.given.listed[1].value if len(call.given.listed) > 1 else Unknown()
    return one.like(one.device) if isinstance(one, Tensor) else one


def gradients(call: CallSite) -> Items | None:
    """The gradients of tensors: each where that is which it is of. None where those are not known."""
    said = call.given.get("inputs", 1)
    of = said.value if said is not None else None
    if isinstance(of, Items) and isinstance(of.more, Tensor):
        return Items([], of.more.computed(of.more.device), "tuple")
    every = of.items if isinstance(of, Items) and of.more is None else [of]
    known = [one.computed(one.device) for one in every if isinstance(one, Tensor)]
    return Items([*known], kind="tuple") if known and len(known) == len(every) else None


def traced(call: CallSite) -> Value | None:
    """A module that is run on what it is to be traced with, or the program that is exported of it."""
    module, said = call.first, call.given.get("args", 1) or call.given.get("example_inputs", 1)
    if not isinstance(module, Module):
        return module
    if said is not None:
        call.run(module, _spread(said))
    if not call.effect.gives:
        return module
    found = Object(call.effect.gives)
    found.attributes["model"] = module
    return found


def _spread(said: Given | None) -> Arguments:
    """What stands in a tuple of arguments, or the one argument that is no tuple."""
    if said is None:
        return Arguments()
    every = said.value.items if isinstance(said.value, Items) else [said.value]
    return Arguments([Given(said.node, one) for one in every])


def stacked_states(call: CallSite) -> Value | None:
    """The weights and the buffers of several models, each in a dict."""
    model = next(call.first.every(), None) if isinstance(call.first, Items) else None
    weight: Value = Unknown()
    if isinstance(model, Module):
        weight = Tensor(model.where(), Origin.OTHER, model.steps)
    return Items([Table({}, weight), Table({}, weight)])


def with_other_weights(call: CallSite) -> Value | None:
    """A module called with weights that are told: it runs where they are, if all are known to be on one
    accelerator; else where its own are, most often."""
    module, told = call.first, call.given.get("parameter_and_buffer_dicts", 1)
    if not isinstance(module, Module):
        return None
    places = {one.device for one in tensors_in(told.value)} if told is not None else set()
    device = places.pop() if len(places) == 1 else None
    if device is not None and device.type == DeviceType.CUDA and device != module.where():
        brought = copied(module, ())  # the module itself stays where it is
        assert isinstance(brought, Module)
        brought.move(device, call.moves(device))
        module = brought
    if module.where() == META:  # it lends its code alone
        return Unknown()
    named = call.given.get("kwargs", 3)
    table = named.value.items if named is not None and isinstance(named.value, Table) else {}
    names = {str(key): Given(named.node, one) for key, one in table.items()} if named else {}
    return call.run(module, _spread(call.given.get("args", 2))._replace(named=names))


def run_over(call: CallSite) -> Value:
    """Statistics are computed anew: the model is called with the first part of each batch, which goes to
    the device that is told, and stays where it is if none is."""
    given = call.given
    loader, model, told = given.get("loader", 0), given.get("model", 1), given.get("device", 2)
    if loader is None or model is None:
        return Const(None)
    batch = item_of(call, loader.value)
    if isinstance(batch, Items):
        batch = next(batch.every(), Unknown())
    if isinstance(batch, Tensor):
        device = call.machine.asked(told.value) if told is not None else batch.device
        moved = call.step(EventKind.MOVED, device) if told is not None else ()
        loops = batch.steps  # of the program, which this one is none of
        batch = batch.like(device, *moved)
        batch.steps = (*(step for step in loops if step.what != EventKind.BOUND), *moved)
    said = call.node if isinstance(call.node, ast.expr) else loader.node
    call.run(model.value, Arguments([Given(said, batch)]))
    return Const(None)


def mapped_by(call: CallSite, value: Value | None) -> Value | None:
    """What ``map_location=`` says: a device, or what a function makes of a storage on the cpu."""
    if isinstance(value, Function):
        return call.run(value, Arguments([Given(ast.Name(name), one) for name, one in _STORED]))
    if isinstance(value, Table):
        return next(value.every(), None)
    return value


_STORED: tuple[tuple[str, Value], ...] = (("storage", Tensor(CPU)), ("location", Const("cuda:0")))
