"""Layers of torch.nn, and the wrappers that spread a module over devices."""

from __future__ import annotations

import ast
from itertools import islice

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import SPLIT, differ
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Frame, Place, Unknown, Value

#: Layers that are made of copies of the one that they are given, and are where that is.
_OF_COPIES = ("TransformerEncoder", "TransformerDecoder")


def built(machine: Machine, kind: str, node: ast.AST, frame: Frame) -> Module:
    """A module of a library, made here."""
    found = Module(kind, machine.for_weights())
    made = machine.step(EventKind.MADE, node, frame, found.device, machine.default_of)
    found.steps, found.frame = made, frame
    machine.modules.append(found)
    return found


def layer(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A layer or container of ``torch.nn``."""
    found = built(machine, last, node, frame)
    said = given.named.get("device")
    if said is not None:
        found.device = machine.asked(said.value)
        found.steps = machine.step(EventKind.MADE, node, frame, found.device)
    copied = given.listed[0].value if given.listed else None
    if last in _OF_COPIES and isinstance(copied, Module):
        found.device = copied.where()
        found.steps = machine.step(EventKind.MADE, node, frame, found.device)
    if last in machine.torch.module_containers:
        found.weights = False
        found.device = None
        fill(machine, found, last, given, node, frame)
        return found
    if last in ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"):
        return parallel(machine, found, last, given, node, frame)
    torch = machine.torch
    if last not in torch.weighted_layers and (
        last in torch.weightless_layers
        or last.startswith(tuple(torch.weightless_prefixes))
        or (last.endswith(tuple(torch.weightless_suffixes)) and not last.endswith("WithLoss"))
    ):
        found.weights = False
        found.device = None
    for name, one in given.named.items():
        if isinstance(one.value, Tensor) and name in ("weight", "pos_weight"):
            held = one.value.like(one.value.device, scalar=False)
            held.module, held.name = found, name
            found.tensors[name] = held
    if (
        last in ("CrossEntropyLoss", "NLLLoss")
        and given.listed
        and isinstance(given.listed[0].value, Tensor)
    ):
        found.tensors["weight"] = given.listed[0].value
    return found


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


def fill(
    machine: Machine, found: Module, kind: str, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """Puts the layers that a container of torch is made of into it."""
    first = given.listed[0].value if given.listed else None
    parts: list[tuple[str, Value]] = []
    if kind == "Sequential" and not isinstance(first, Items | Table):
        parts = [(str(i), one.value) for i, one in enumerate(given.listed)]
    elif isinstance(first, Items):
        parts = [(str(i), value) for i, value in enumerate(first.every())]
    elif isinstance(first, Table):
        parts = [(str(key), value) for key, value in first.items.items()]
        parts += [("?", first.more)] if first.more is not None else []
    for name, value in parts:
        if isinstance(value, Batch) and value.inner.maker == Origin.LOAD:
            value = loaded_model(machine, value.inner)
        if isinstance(value, Module | Tensor):
            modules.put(machine, found, name, value, node, frame)


def loaded_model(machine: Machine, loaded: Tensor) -> Module:
    """A whole model that was loaded: where it was when it was saved, or is mapped to."""
    found = Module("loaded", loaded.device)
    found.steps, found.frame = loaded.steps, loaded.frame
    machine.modules.append(found)
    return found


def library_loss(
    machine: Machine, kind: str, given: Arguments, node: ast.AST, frame: Frame
) -> Module:
    """A loss of another library: it keeps the tensors and the models that it is given; of its own tensors
    none are known."""
    found = built(machine, kind, node, frame)
    found.device = None
    listed = ((str(n), one) for n, one in enumerate(given.listed))
    for name, one in (*listed, *given.named.items()):
        if isinstance(one.value, Module):
            found.children[name] = one.value
        for tensor in islice(tensors_in(one.value), 1):
            held = tensor.like(tensor.device)
            held.module, held.name = found, name
            found.tensors[name] = held
    return found


def parallel(
    machine: Machine, found: Module, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A wrapper around the module given: where it sends inputs, and what it asks of its weights."""
    inner = given.get("module", 0)
    found.weights = False
    found.device = None
    if inner is None or not isinstance(inner.value, Module):
        return found
    found.children["module"] = inner.value
    if last == "DataParallel":  # of others each process has its own
        inner.value.steps = (*inner.value.steps, Step(EventKind.WRAPPED, machine.spot(node, frame)))
    ids = given.get("device_ids", 1)
    first: Value | None = None
    if (said := given.named.get("device_id")) is not None:
        first = said.value
    if ids is not None and isinstance(ids.value, Items):
        first = next(ids.value.every(), None)
    told = first is not None or (ids is not None and isinstance(ids.value, Unknown))
    home = machine.asked(first) if first is not None else None
    if home is None and told and last != "DataParallel":  # a number that is not known: the module's
        home = inner.value.where()
    elif first is None:  # without device_ids only DataParallel chooses devices
        home = Device(DeviceType.CUDA, 0) if last == "DataParallel" else None
    found.plain["device_ids[0]"] = Place(home) if home is not None else Unknown()
    fixed = _first_number(ids.node) if ids is not None and last != "DataParallel" else None
    by = machine.spot(fixed, frame) if fixed is not None else None
    found.steps = machine.step(EventKind.WRAPPED, node, frame, home, by)
    if last != "DataParallel" and home is not None and (home.ranked or is_spread(inner.value)):
        at_home(machine, found, node, frame)
    return found


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
    return Arguments(
        [one._replace(value=moved(one.value, home.device, step)) for one in given.listed],
        {
            k: one._replace(value=moved(one.value, home.device, step))
            for k, one in given.named.items()
        },
        given.open,
    )


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
