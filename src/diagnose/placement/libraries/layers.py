"""Layers of torch.nn, and the wrappers that spread a module over devices."""

from __future__ import annotations

import ast
from itertools import islice

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import SPLIT, differ
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Frame, Place, Unknown, Value

#: By what losses are given the weights of classes.
CLASS_WEIGHTS = ("weight", "pos_weight")


def built(call: CallSite, kind: str) -> Module:
    """A module of a library, made here."""
    found = Module(kind, call.machine.for_weights())
    found.steps = call.step(EventKind.MADE, found.device, call.machine.default_of)
    found.frame = call.frame
    call.machine.modules.append(found)
    return found


def layer(call: CallSite) -> Value:
    """A layer of ``torch.nn``."""
    found, torch, last = built(call, call.last), call.machine.torch, call.last
    if "device" in call.given.named:
        _put_at(call, found, call.device("device"))
    if last not in torch.weighted_layers and (
        last in torch.weightless_layers
        or last.startswith(tuple(torch.weightless_prefixes))
        or (last.endswith(tuple(torch.weightless_suffixes)) and not last.endswith("WithLoss"))
    ):
        found.weights, found.device = False, None
    for name, one in call.given.named.items():
        if isinstance(one.value, Tensor) and name in CLASS_WEIGHTS:
            held = one.value.like(one.value.device, scalar=False)
            held.module, held.name = found, name
            found.tensors[name] = held
    return found


def weighted_loss(call: CallSite) -> Value:
    """A loss of torch that may be given the weights of classes first."""
    found = layer(call)
    if isinstance(found, Module) and isinstance(call.first, Tensor):
        found.tensors["weight"] = call.first
    return found


def layer_of_copies(call: CallSite) -> Value:
    """A layer that is made of copies of the one that it is given, and is where that is."""
    found = layer(call)
    if isinstance(found, Module) and isinstance(call.first, Module):
        _put_at(call, found, call.first.where())
    return found


def _put_at(call: CallSite, found: Module, device: Device | None) -> None:
    found.device, found.steps = device, call.step(EventKind.MADE, device)


def container(call: CallSite) -> Value:
    """A module that holds others, and has no weights of its own."""
    found = built(call, call.last)
    found.weights, found.device = False, None
    fill(call, found, call.last)
    return found


def given_weights(call: CallSite) -> Value:
    """A layer that takes a tensor as its weights, where that is."""
    found = built(call, call.effect.gives)
    weights = next(tensors_in(call.first), None) if call.first is not None else None
    if weights is not None:
        found.device = weights.device
    return found


def library_layer(call: CallSite) -> Value:
    """A layer of another library, with weights of its own unless the row says that it has none."""
    found = built(call, f"{call.root}.{call.last}")
    if call.effect.gives == "weightless":
        found.weights, found.device = False, None
    return found


def process_distribution(call: CallSite) -> Value | None:
    """A distribution of gpytorch is where its mean is."""
    mean = next((t for one in call.given.every() for t in tensors_in(one.value)), None)
    return Batch(mean.like(mean.device)) if mean is not None else None


def passed(module: Module, given: Arguments) -> Value | None:
    """What a layer of torch gives that hands its input on, or, without weights, of a tensor on the cpu:
    what that was before still tells why it is there. None of others."""
    if module.kind in ("Identity", "Dropout", "Flatten") and given.listed:
        return given.listed[0].value
    layer = module.made is None and module.kind.isidentifier() and not module.weights
    alone = not (module.tensors or module.children or module.hooks or module.before)
    if not layer or not alone or module.kind.endswith("Loss") or len(given.listed) != 1:
        return None
    inner = given.listed[0].value
    if not isinstance(inner, Tensor) or inner.device is None or inner.device.type != DeviceType.CPU:
        return None
    return inner.computed(inner.device)


def fill(call: CallSite, found: Module, kind: str) -> None:
    """Puts the layers that a container of torch is made of into it."""
    first = call.first
    parts: list[tuple[str, Value]] = []
    if kind == "Sequential" and not isinstance(first, Items | Table):
        parts = [(str(i), one.value) for i, one in enumerate(call.given.listed)]
    elif isinstance(first, Items):
        parts = [(str(i), value) for i, value in enumerate(first.every())]
    elif isinstance(first, Table):
        parts = [(str(key), value) for key, value in first.items.items()]
        parts += [("?", first.more)] if first.more is not None else []
    for name, value in parts:
        if isinstance(value, Batch) and value.inner.maker == Origin.LOAD:
            value = loaded_model(call, value.inner)
        if isinstance(value, Module | Tensor):
            modules.put(call.machine, found, name, value, call.node, call.frame)


def loaded_model(call: CallSite, loaded: Tensor) -> Module:
    """A whole model that was loaded: where it was when it was saved, or is mapped to."""
    found = Module("loaded", loaded.device)
    found.steps, found.frame = loaded.steps, loaded.frame
    call.machine.modules.append(found)
    return found


def library_loss(call: CallSite) -> Module:
    """A loss of another library: it keeps the tensors and the models that it is given; of its own tensors
    none are known."""
    found = built(call, f"{call.root}.{call.last}")
    found.device = None
    listed = ((str(n), one) for n, one in enumerate(call.given.listed))
    for name, one in (*listed, *call.given.named.items()):
        if isinstance(one.value, Module):
            found.children[name] = one.value
        for tensor in islice(tensors_in(one.value), 1):
            held = tensor.like(tensor.device)
            held.module, held.name = found, name
            found.tensors[name] = held
    return found


def replicas(call: CallSite) -> Value:
    """``nn.DataParallel``: its first device is the first of the GPUs, unless it is told others."""
    found, inner = _wrapper(call, call.effect.gives)
    if inner is None:
        return found
    inner.steps = (*inner.steps, Step(EventKind.WRAPPED, call.spot))
    first, _ = _first_id(call)
    _wrap(call, found, call.machine.asked(first) if first else Device(DeviceType.CUDA, 0))
    return found


def scattering(call: CallSite) -> Value:
    """A wrapper of another library that scatters inputs; it is known where it is given a model."""
    whole = call.given.get("module", 0)
    return replicas(call) if whole is not None and isinstance(whole.value, Module) else Unknown()


def wrapper(call: CallSite) -> Value:
    """A wrapper of each process: where it sends inputs, and what it asks of its module's weights."""
    found, inner = _wrapper(call, call.last)
    if inner is None:
        return found
    first, told = _first_id(call)
    home = call.machine.asked(first) if first is not None else None
    if home is None and told:  # a number that is not known: the module's
        home = inner.where()
    ids = call.given.get("device_ids", 1)
    fixed = _first_number(ids.node) if ids is not None else None
    _wrap(call, found, home, call.machine.spot(fixed, call.frame) if fixed is not None else None)
    if home is not None and (home.ranked or is_spread(inner)):
        at_home(call.machine, found, call.node, call.frame)
    return found


def _wrapper(call: CallSite, kind: str) -> tuple[Module, Module | None]:
    """A module around the one that is given, and that."""
    found, inner = built(call, kind), call.given.get("module", 0)
    found.weights, found.device = False, None
    if inner is None or not isinstance(inner.value, Module):
        return found, None
    found.children["module"] = inner.value
    return found, inner.value


def _first_id(call: CallSite) -> tuple[Value | None, bool]:
    """The first device that a wrapper is told, and whether it is told any."""
    ids, single = call.given.get("device_ids", 1), call.given.named.get("device_id")
    first = single.value if single is not None else None
    if ids is not None and isinstance(ids.value, Items):
        first = next(ids.value.every(), None)
    return first, first is not None or (ids is not None and isinstance(ids.value, Unknown))


def _wrap(call: CallSite, found: Module, home: Device | None, by: Spot | None = None) -> None:
    found.plain["device_ids[0]"] = Place(home) if home is not None else Unknown()
    found.steps = call.step(EventKind.WRAPPED, home, by)


def _first_number(listed: ast.AST) -> ast.AST | None:
    """The number that a written list of devices begins with; None for others."""
    match listed:
        case ast.List(elts=[ast.Constant(value=int()) as first, *_]):
            return first
    return None


def is_spread(module: Module) -> bool:
    """Whether a module has its parts on several accelerators."""
    places = {
        one.device.number
        for one in module.family()
        if one.weights and one.device is not None and one.device.type == DeviceType.CUDA
    }
    return len(places - {None}) > 1


def scattered(
    wrapped: Module, given: Arguments, node: ast.AST, machine: Machine, frame: Frame
) -> Arguments:
    """The arguments of a wrapper, which brings them to its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return given
    by = next((one.of for one in wrapped.steps if one.what == EventKind.WRAPPED), None)
    step = Step(EventKind.MOVED, machine.spot(node, frame), home.device, by)
    return given.changed(lambda value: moved(value, home.device, step))


def is_away(wrapped: Module) -> bool:
    """Whether the module of `nn.DataParallel` is known to be elsewhere than on its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if wrapped.kind != "DataParallel" or not isinstance(home, Place):
        return False
    return differ(wrapped.children["module"].where(), home.device) is True


def at_home(machine: Machine, wrapped: Module, node: ast.AST, frame: Frame) -> None:
    """``nn.DataParallel`` wants the weights of its module on its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return
    inner = wrapped.children["module"]
    where = SPLIT if is_spread(inner) else inner.where()
    weight = Tensor(where, Origin.WEIGHT, inner.steps, inner.frame, module=inner)
    there = Tensor(home.device, Origin.HOME, wrapped.steps, wrapped.frame, module=wrapped)
    machine.meet(
        ConstraintKind.HOME, node, frame, [Meets(node, inner, weight), Meets(node, wrapped, there)]
    )
