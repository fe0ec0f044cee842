"""Weights: saved, and loaded where they were unless they are mapped elsewhere; on meta, without memory,
and who may fill them; copied with their model; given to it for one call, or to what ``torch.func``
makes of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.libraries.datasets import item_of
from diagnose.placement.machine import Arguments, Given, Machine, Meets, Partial
from diagnose.placement.model import Device, Source, Spot, Step
from diagnose.placement.provenance import is_offloaded, last_of
from diagnose.placement.semantics import called, calls, nodes
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Function,
    Object,
    Place,
    Unknown,
    Value,
)


def saved(call: CallSite) -> Value:
    """``torch.save(value, file)``."""
    value, file = call.given.get("obj", 0), call.given.get("f", 1)
    if value is not None and file is not None:
        call.machine.saved.append((file.value, value.value))
    return Const(None)


def loaded(call: CallSite) -> Batch:
    """What ``torch.load`` gives: mapped to a device, or where the program saved it."""
    said, file = call.given.told("map_location", 1), call.given.get("f", 0)
    found = loaded_from(call, said.value if said is not None else None)
    if said is not None or file is None:
        return found
    saved = reversed(call.machine.saved)
    value = next((held for at, held in saved if _is_same(at, file.value)), None)
    device = _place(value) if value is not None else None
    return Batch(found.inner.like(device)) if device is not None else found


def loaded_file(call: CallSite) -> Batch:
    """What a function loads onto the device of the row, or the one that it is told."""
    said = call.argument(call.effect.of)
    there = Place(CPU) if call.effect.to == "cpu" else None
    return loaded_from(call, said.value if said is not None else there)


def loaded_from(call: CallSite, where: Value | None) -> Batch:
    """What is loaded and mapped to what a call says."""
    value = mapped_by(call, where)
    device = call.machine.asked(value) if value is not None else None
    made = call.step(EventKind.LOADED, device)
    return Batch(Tensor(device, Origin.LOAD, made, call.frame))


def loads_state(owner: Module, call: CallSite) -> Value:
    """``load_state_dict`` copies what was loaded into the weights where they are; with ``assign=True`` it
    takes their place, wherever it is."""
    given, spot = call.given, call.spot
    state, assign = given.get("state_dict", 0), given.get("assign", 2)
    if state is not None and not _is_off(assign):
        left = owner.where() if _is_off(given.get("strict", 1), otherwise=False) else None
        loaded = next(tensors_in(state.value), None)
        device = loaded.device if loaded is not None and _is_on(assign) else None
        # Of a model of which it is a part, some weights stay where they were: what is on the host then
        # meets what the GPU computes all the same.
        if left == META or (left is not None and device not in (CPU, left)):
            device = None
        empty = list(empty_tensors(owner)) if _is_on(assign) else []
        owner.move(device, Step(EventKind.LOADED, spot, left))
        keep_unsaved(owner, empty, spot)
    elif owner.where() == META:
        owner.steps = (*owner.steps[-12:], Step(EventKind.UNFILLED, spot, META))
    return Unknown()


def _is_on(said: Given | None) -> bool:
    """Whether an argument is known to be true."""
    return said is not None and isinstance(said.value, Const) and bool(said.value.value)


def _is_off(said: Given | None, *, otherwise: bool = True) -> bool:
    """Whether an argument is known to be false; ``otherwise`` is what it is where it is left out."""
    if said is None:
        return otherwise
    return isinstance(said.value, Const) and not said.value.value


def may_be_number(machine: Machine, key: Value) -> bool:
    """Whether an entry of a checkpoint may be no tensor: where the program itself has not saved one so."""
    if not isinstance(key, Const) or not isinstance(key.value, str):
        return False
    tables = (held.items for _, held in machine.saved if isinstance(held, Table))
    return not any(isinstance(held.get(key.value), _HOLDING) for held in tables)


#: What holds tensors.
_HOLDING = Tensor | Batch | Table | Items


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values name the same file, as far as is known."""
    if isinstance(one, Const) and isinstance(other, Const):
        return one.value == other.value
    return one is other


def _place(value: Value) -> Device | None:
    """Where all tensors of a value are; None where they are apart, or that is not known."""
    places = {tensor.device for tensor in tensors_in(value)}
    return places.pop() if len(places) == 1 else None


#: Methods that go through the parts or the buffers of a module.
_GOING_THROUGH = frozenset({"modules", "named_modules", "buffers", "named_buffers"})
#: Those that hand what it holds to a function, which may fill it.
_HANDING = frozenset({"apply", "_apply"})
#: Functions and methods that take the memory of weights, and bring them for their layer's forward only.
_TAKING = frozenset(
    {"cpu_offload", "disk_offload", "dispatch_model", "enable_sequential_cpu_offload"}
)
#: Methods by which a class fills by itself what its saved weights lack.
_FILLING = ("_load_from_state_dict", "_apply")


def empty_tensors(module: Module) -> Iterator[tuple[Module, str, Tensor]]:
    """The tensors of a module and its parts that have no memory, each with its owner and its name there."""
    for one in module.family():
        for name, tensor in one.tensors.items():
            if tensor.device == META:
                yield one, name, tensor


def keep_unsaved(module: Module, empty: list[tuple[Module, str, Tensor]], spot: Spot) -> None:
    """Leaves on meta what was there when the weights of a module were put in the place of its own, and is
    in no ``state_dict``.

    Args:
        module: the module, whose tensors have all been taken for loaded.
        empty: its `empty_tensors` before that.
        spot: the line that loads.
    """
    for one, name, tensor in empty:
        fills = one.made is not None and any(map(one.made.find, _FILLING))
        if name in one.unsaved and not fills:
            unfilled = tensor.like(META, Step(EventKind.UNFILLED, spot, META))
            one.tensors = {**one.tensors, name: unfilled}


def filled_elsewhere(module: Module, step: Step) -> None:
    """What has no memory may have got it by ``step``: from then on nobody knows where it is."""
    for one, name, tensor in list(empty_tensors(module)):
        one.tensors = {**one.tensors, name: tensor.like(None, step)}


def may_be_filled(name: str, node: ast.AST, source: Source) -> bool:
    """Whether a call of a method of a module is what others may fill it by: a loop, a function."""
    through = name in _GOING_THROUGH and id(node) not in _counting(source.tree)
    return through or name in _HANDING


@lru_cache(maxsize=8)
def _counting(tree: ast.Module) -> frozenset[int]:
    """The calls within the comprehensions of a file that give something, and do nothing by the way."""
    alone = {id(one.value) for one in nodes(tree, ast.Expr)}
    return frozenset(
        id(call)
        for one in nodes(tree, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        if id(one) not in alone
        for call in calls(one)
    )


def is_taken(module: Module) -> bool:
    """Whether a library keeps the weights of a module on meta now, for none of its forwards runs."""
    waits = any(one.runs is not None for one in module.owners())
    last = last_of(module.steps, EventKind.OFFLOADED)
    if last is None or not waits or module.where() != CPU:
        return False
    by = last.spot.node
    if not isinstance(by, ast.Call):
        return True  # ``device_map=`` of a model that is loaded
    return called(by) in _TAKING and not any(map(_keeps_the_host, by.keywords))


def _keeps_the_host(said: ast.keyword) -> bool:
    """Whether an argument says that what is mapped to the host runs there, with the memory that it has."""
    given = said.value.value if isinstance(said.value, ast.Constant) else None
    return said.arg == "main_device" and given == "cpu"


def released(module: Module) -> None:
    """The weights of an offloaded module are brought back: from then on nobody knows where they are."""
    if not is_offloaded(module):
        return
    for one in module.family():
        one.device, one.runs = None, None
        one.tensors = {name: tensor.like(None) for name, tensor in one.tensors.items()}


def taken_weight(tensor: Tensor) -> Tensor | None:
    """A weight that is read of a module that has none now, as it is then; None for others."""
    module = tensor.module
    if (
        tensor.maker != Origin.WEIGHT
        or module is None
        or tensor.device != CPU
        or not is_taken(module)
    ):
        return None
    own = module.made is None or any(called(one.spot.node) == "Parameter" for one in tensor.steps)
    return tensor.like(META) if own else None


def has_no_memory(tensor: Tensor, device: Device | None, told: ast.AST | None) -> Tensor | None:
    """A tensor that is moved and has no memory that could be copied; None for others.

    Args:
        tensor: what is moved.
        device: where to; None where that is not known.
        told: the expression that says so.
    """
    if device is not None and device != META and tensor.device == META:
        return tensor
    known = device not in (None, META) or (
        isinstance(told, ast.Attribute) and told.attr == "device"
    )
    return taken_weight(tensor) if known else None


#: Their methods that bring it nearer to the model.
_AVERAGING = re.compile(r"step|update")
#: Classes that keep an averaged copy of the model that they are given, as ``module``.
_AVERAGED = re.compile(r"AveragedModel|ModelE[Mm][Aa]\w*|EMA(Model)?|ExponentialMovingAverage\w*")


#: Of them those that are modules: their ``to`` gives them back.
_MOVABLE = re.compile(r"AveragedModel|ModelE[Mm][Aa]\w*")


def copy_of(call: CallSite) -> Value | None:
    """A copy of what a call is given, or of its owner."""
    value = call.owner or call.first
    return copied(value, call.step(EventKind.MADE), call.frame) if value is not None else None


def averaged_copy(call: CallSite) -> Value | None:
    """What keeps an averaged copy of the model that it is given, as ``module``; None of other values."""
    step, model = call.step(EventKind.MADE), _model_of(call.first)
    if model is None:
        return None
    found = Module(call.last, None)
    found.weights, found.steps, found.frame = False, step, call.frame
    copy = copied(model, step, call.frame)
    assert isinstance(copy, Module)
    copy.owner, found.children["module"] = found, copy
    if (said := call.argument("device")) is not None:
        device = call.machine.asked(said.value)
        found.plain["device"] = said.value
        for one in copy.family():
            one.device = device if one.weights else one.device
    return found


def averages(module: Module) -> bool:
    """Whether a module keeps an averaged copy of another one, and can be moved where it is made."""
    return _MOVABLE.fullmatch(module.kind) is not None


def _model_of(value: Value | None) -> Module | None:
    """A model, or the one whose parameters are given."""
    weight = value.more if isinstance(value, Items) else None
    return (
        weight.module
        if isinstance(weight, Tensor) and weight.maker == Origin.WEIGHT
        else (value if isinstance(value, Module) else None)
    )


def averaged(owner: Module, call: CallSite) -> bool:
    """Notes that an averaged copy is brought nearer to the model, by a method that does so."""
    model = _model_of(call.first)
    if model is None or not _AVERAGED.fullmatch(owner.kind) or not _AVERAGING.match(call.name):
        return False
    copy = owner.children.get("module")
    if owner.kind == "AveragedModel" or "device" in owner.plain:
        return True  # it brings the model's weights to its own
    sides = [Meets(call.node, one, weight_of(one)) for one in (copy, model) if one is not None]
    call.meet(ConstraintKind.JOIN, sides)
    return True


def copied(
    value: Value,
    step: tuple[Step, ...],
    frame: Frame | None = None,
    done: dict[int, Module] | None = None,
) -> Value:
    """A copy, made by ``step`` among the variables of a call, or with the original's; what it holds twice,
    the copy does too (``done``)."""
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Module):
        life = value.steps[1 if step else 0 :]
        if step and not done:  # it is in nothing that the original is in
            life = tuple(one for one in life if one.what not in (EventKind.HELD, EventKind.PUT))
        found = done[id(value)] = Module(value.kind, value.device, value.made)
        found.weights, found.steps = value.weights, (*step, *life)
        found.frame = frame or value.frame
        found.plain, found.buffers = dict(value.plain), set(value.buffers)
        found.unsaved = set(value.unsaved)
        found.before, found.hooks = list(value.before), list(value.hooks)
        found.tensors = {k: t.like(t.device) for k, t in value.tensors.items()}
        for name, child in value.children.items():
            inner = copied(child, step, frame, done)
            assert isinstance(inner, Module)
            inner.owner = found
            found.children[name] = inner
        found.plain = {name: _again(one, done) for name, one in found.plain.items()}
        return found
    return value


def _again(value: Value, done: Mapping[int, Module]) -> Value:
    """A method, list or dict of a module as its copy keeps it: of the layers that are registered, too, the
    copies."""
    if isinstance(value, Function) and value.this is not None:
        return value.bound(done.get(id(value.this), value.this))
    found: Items | Table
    if isinstance(value, Items):
        found = Items([done.get(id(one), one) for one in value.items], None, value.kind)
        found.grows = value.grows
    elif isinstance(value, Table):
        found = Table({key: done.get(id(one), one) for key, one in value.items.items()})
    else:
        return value
    found.more = value.more and done.get(id(value.more), value.more)
    found.keeper, found.steps, found.frame = value.keeper, value.steps, value.frame
    return found


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
