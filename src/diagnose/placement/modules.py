"""What ``nn.Module`` does with what is put into it, and what its methods do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import META, differ, is_gpu
from diagnose.placement.machine import Machine, Partial
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import first_of
from diagnose.placement.tensors import (
    Distribution,
    Module,
    Table,
    Tensor,
    inside,
    modules_in,
    tensors_in,
    within,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Class, Frame, Function, Unknown, Value


def put(
    machine: Machine, owner: Module, name: str, value: Value, statement: ast.AST, frame: Frame
) -> None:
    """``owner.name = value``: layers, parameters and buffers are registered, all else is not."""
    spot = machine.spot(statement, frame)
    if owner.made is None and owner.device == META:  # its weights are put in one by one
        owner.device = None
    match value:
        case Module():
            value.word = value.word or name
            name = name if name != "?" else f"?{len(owner.children)}"
            owner.plain.pop(name, None)
            value.steps = (*value.steps, Step(EventKind.PUT, spot, _around(owner)))
            if _is_free(value):
                value.owner = owner
            owner.children[name] = value
            return
        case Tensor():
            value = _as_parameter(owner, value)
            if value.maker == Origin.WEIGHT:
                value.steps = (*value.steps, Step(EventKind.PUT, spot, value.device))
                value.module, value.name = owner, name
                owner.tensors = {**owner.tensors, name: value}
            elif name in owner.buffers:
                owner.plain.pop(name, None)
                buffer(machine, owner, name, value, statement, frame)
            elif name in owner.tensors:  # a buffer is given another value
                renewed = value.like(value.device, Step(EventKind.PUT, spot, value.device))
                renewed.name = name if renewed.module is owner else renewed.name
                owner.tensors = {**owner.tensors, name: renewed}
            else:
                owner.plain[name] = _kept(owner, name, value, spot)
            return
        case Distribution():
            if value.inner.maker == Origin.WEIGHT:
                value = Unknown()  # of parameters alone, and where they are whenever it is asked
            else:
                value = Distribution(_kept(owner, name, inside(value), spot))
        case Items() | Table():
            value.keeper = owner
            value.steps = (*value.steps, Step(EventKind.KEPT, spot))
            for item in value.every():
                hold(value, item, name)
        case Partial():
            _leave_out(owner, value, spot, name)
    owner.plain[name] = value


def _as_parameter(owner: Module, value: Tensor) -> Tensor:
    """What is put into a list of parameters is one; a clone of a weight is none elsewhere."""
    if owner.kind in ("ParameterList", "ParameterDict"):
        value = value.like(value.device)
        value.maker = Origin.WEIGHT
    copied = bool(value.steps) and value.steps[-1].what == EventKind.COPIED
    return value.computed(value.device) if copied and value.maker == Origin.WEIGHT else value


def _kept(owner: Module, name: str, value: Tensor, spot: Spot) -> Tensor:
    """A tensor that a module keeps without registering it."""
    kept = value.like(value.device, Step(EventKind.KEPT, spot, value.device))
    kept.module, kept.name = owner, name
    return kept


def _is_free(module: Module) -> bool:
    """Whether a module belongs to no other; a part that was taken out of a library's model is free, too."""
    whole = module.owner
    return whole is None or (whole.made is None and whole.owner is None and whole.weights)


def _around(owner: Module) -> Device | None:
    """Where a module is, or one that it belongs to: one without weights of its own is with them."""
    places = (one.where() for one in owner.owners())
    return next((place for place in places if place is not None), None)


def hold(container: Items | Table, value: Value, name: str = "") -> None:
    """What a list or dict that is a module's plain attribute holds is not registered."""
    owner = container.keeper
    kept = first_of(container.steps, EventKind.KEPT)
    if owner is not None and kept is not None:
        _leave_out(owner, value, kept.spot, name)


def _leave_out(owner: Module, value: Value, spot: Spot, name: str) -> None:
    """What a plain attribute holds is a module's, and does not move with it."""
    for inner in _modules_in(value):
        if _is_free(inner):
            inner.steps = (*inner.steps, Step(EventKind.HELD, spot, inner.where()))
            inner.owner = owner
    for tensor in tensors_in(value):
        if tensor.maker != Origin.GIVEN:
            tensor.steps = (*tensor.steps, Step(EventKind.HELD, spot, tensor.device))
            if tensor.module is None or tensor.maker == Origin.COMPUTED:
                tensor.module, tensor.name = owner, name


def _modules_in(value: Value) -> Iterator[Module]:
    """The modules that a plain container holds, those that its functions are given already among them."""
    yield from modules_in(value)
    for one in within(value):
        if isinstance(one, Partial):
            for given in one.given.every():
                yield from modules_in(given.value)


def taken(owner: Module, given: Iterable[Value]) -> None:
    """What a base of another package is handed when it is made, it keeps and moves by itself."""
    for value in given:
        if isinstance(value, Items | Table) and value.keeper is owner:
            value.keeper = None
            for number, inner in enumerate(modules_in(value)):
                inner.steps = tuple(step for step in inner.steps if step.what != EventKind.HELD)
                owner.children.setdefault(f"?{number}", inner)


def buffer(
    machine: Machine, owner: Module, name: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """``register_buffer`` and ``register_parameter``."""
    if isinstance(value, Tensor):
        held = value.like(
            value.device, Step(EventKind.PUT, machine.spot(node, frame), value.device)
        )
        held.module, held.name, held.maker = owner, name, Origin.WEIGHT
        owner.tensors = {**owner.tensors, name: held}
    else:
        owner.buffers.add(name)
        owner.plain[name] = value


#: What some part of a library's model is called.
SOME = "?"


def child(owner: Module, name: str) -> Module:
    """A part of a library's module that the user reaches into: it moves with the whole."""
    found = Module(f"{owner.kind}.{name}", owner.device if owner.weights else None)
    found.steps = owner.steps
    found.owner = owner
    found.frame = owner.frame
    if owner.kind.endswith("Pipeline"):  # of which each model is brought there by itself
        found.runs = owner.runs
    owner.children[name] = found
    return found


def layer_of(module: Module) -> Module | None:
    """Some layer of a part of a library's model, as a loop over that takes them; None of other modules."""
    if module.made is not None or module.owner is None or "." not in module.kind:
        return None
    return next(iter(module.children.values()), None) or child(module, SOME)


def some_part(module: Module) -> Value:
    """Some part of a library's model, of which no more is known than that it moves with the whole."""
    whole = module.made is None and module.weights and "." in module.kind
    return child(module, SOME) if whole else Unknown()


def weights(module: Module, name: Value | None = None) -> Items:
    """What ``parameters()`` gives, with a name each what ``named_parameters()`` does: some weight, or, of a
    module that is spread over accelerators, one on each of them."""
    whole = Tensor(module.where(), Origin.WEIGHT, module.steps, module.frame, module=module)
    found = _on_each(module) if whole.device and whole.device.type == DeviceType.CUDA else []
    apart = len(found) > 1
    every: list[Value] = [*(found if apart else [whole])]
    if name is not None:
        every = [Items([name, one]) for one in every]
    given = Items(every) if apart else Items([], every[0])
    given.grows = apart  # how many there are, nobody says
    return given


def any_weight(module: Module) -> Tensor:
    """Some weight of a module: of one that is spread over accelerators nobody knows on which."""
    where = None if len(_on_each(module)) > 1 else module.where()
    return Tensor(where, Origin.WEIGHT, module.steps, module.frame, module=module)


def _on_each(module: Module) -> list[Tensor]:
    """A weight of a module on each accelerator that some are on."""
    found: list[Tensor] = []
    for one in module.family():
        own = Tensor(one.device, Origin.WEIGHT, one.steps, one.frame, module=one)
        for weight in ([own] if one.weights else []) + list(one.tensors.values()):
            there = is_gpu(weight.device)
            if there and all(differ(weight.device, other.device) for other in found):
                found.append(weight)
    return found


def named(module: Module, most: int) -> list[tuple[str, Module]]:
    """The parts of a module by their names; of those within them, too, where they are ``most`` at most."""
    within = list(module.children.items())
    for name, one in within:
        if len(within) < most:
            within += [(f"{name}.{inner}", part) for inner, part in one.children.items()]
    return within if len(within) <= most else list(module.children.items())


def at(module: Module, name: str | None) -> Module | None:
    """The part of a module that has a dotted name; None where that is not known."""
    found: Module | None = module if name else None
    for part in (name or "").split("."):
        found = found.children.get(part) if found is not None else None
    return found


def given_by(module: Module, method: str) -> Module:
    """The part of a library's model that a method gives, by a name that is no attribute's."""
    name = f"{method}()"
    return module.children.get(name) or child(module, name)


def container(machine: Machine, module: Module) -> str | None:
    """Which container of torch a module is, itself or by the bases of its class; None for others."""
    names = [module.kind] if module.made is None else list(module.made.names())
    lasts = (name.rpartition(".")[2] for name in names)
    return next((last for last in lasts if last in machine.torch.module_containers), None)


def of_class(machine: Machine, names: tuple[str, ...]) -> bool:
    """Whether classes of such bases are modules, and none of another framework's."""
    if _elsewhere(machine, names):
        return False
    endings = tuple(machine.torch.module_suffixes)
    for name in names:
        last = name.rpartition(".")[2]
        known = last in machine.torch.module_classes or last.endswith(endings)
        if known or name.startswith("torch.nn."):
            return True
    return False


def _elsewhere(machine: Machine, names: Iterable[str]) -> bool:
    """Whether a base is another framework's, or built on one."""
    torch = machine.torch
    prefixes = tuple(torch.other_framework_prefixes)
    return any(
        name.partition(".")[0] in torch.other_frameworks
        or name.rpartition(".")[2].startswith(prefixes)
        for name in names
    )


def runs(machine: Machine, made: Class) -> bool:
    """Whether a class is a module by its ``forward``, of whose base nothing is known."""
    if not isinstance(made.find("forward"), Function):
        return False
    if _elsewhere(machine, made.names()):
        return False
    return any(
        base.rpartition(".")[2] not in ("object", "ABC", "Protocol", "Function")
        and not base.startswith(("Generic", "typing."))
        for one in made.line()
        for base in one.library
    )
