"""What methods of tensors and of batches of them do to placement."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.assignments import KEY
from diagnose.placement.device_guards import kind_of
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.libraries.checkpoints import may_be_number
from diagnose.placement.libraries.meta_modules import has_no_memory
from diagnose.placement.machine import Arguments, Machine, Meets, generating, operands, origin
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Method,
    Number,
    Object,
    Place,
    Unknown,
    Value,
)

#: Methods of lists, dicts and modules that no tensor has.
_OF_OTHERS = (
    "append",
    "extend",
    "pop",
    "set",
    "keys",
    "items",
    "update",
    "load_state_dict",
    "state_dict",
    "eval",
    "train",
)


def target(machine: Machine, name: str, given: Arguments) -> Device | None:
    """The device that ``.to(...)``, ``.cuda(...)``, ``.cpu()`` or ``.type_as(x)`` moves to."""
    if name == "cpu":
        return CPU
    if name in machine.torch.accelerators:
        said = given.get("device", 0)
        return (machine.asked(said.value) or HOME) if said is not None else machine.home()
    if name == "type":
        return _named_by_type(machine, given)
    found = given.get("device", 0)
    return machine.asked(found.value) if found is not None else None


def move(
    machine: Machine, given: Arguments, node: ast.AST, frame: Frame, device: Device | None
) -> Step:
    """The step of a move, with the literal that its device was written as."""
    said = given.get("device", 0)
    if said is not None and isinstance(said.value, Const):
        machine.bind(device, node, frame)
    return Step(
        EventKind.MOVED,
        machine.spot(node, frame),
        device,
        origin(said.value) if said is not None else None,
    )


def moves(machine: Machine, given: Arguments, name: str) -> bool:
    """False for ``.to(dtype)``."""
    if name == "cpu" or name in machine.torch.accelerators:
        return True
    if name == "type":  # a type that nobody knows may be one of a GPU's
        said = given.get("dst_type", 0)
        unknown = said is not None and isinstance(said.value, Unknown)
        return unknown or _named_by_type(machine, given) is not None
    found = given.get("device", 0)
    if found is None:
        return False
    if isinstance(found.node, ast.Name | ast.Attribute) and _is_type(found.node):
        return False
    dotted = found.value.dotted if isinstance(found.value, External) else ""
    return not dotted.startswith("torch.")


def _is_type(said: ast.Name | ast.Attribute) -> bool:
    """Whether an expression is called as people call a type: ``x.dtype``, ``weight_dtype``."""
    return (said.id if isinstance(said, ast.Name) else said.attr).endswith("dtype")


def of_tensor(machine: Machine, owner: Tensor, name: str) -> Value:
    """An attribute of a tensor."""
    if name == "device":
        return Place(owner.device, owner.steps) if owner.device is not None else Unknown()
    if name in machine.torch.tensor_attributes or name in ("values", "indices"):
        return owner.like(owner.device)
    if name == "shape":
        return Items([], Number())
    if name == "is_cuda" and owner.device is not None:
        return Const(owner.device.type == DeviceType.CUDA)
    if name == "requires_grad" and owner.maker == Origin.FACTORY:
        return Const(False)  # what is trained is a parameter, most often
    return Method(owner, name)


def tensor_method(
    machine: Machine, owner: Tensor, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a tensor gives."""
    torch = machine.torch
    if name in torch.moves:
        if not moves(machine, given, name):
            return owner.like(owner.device)
        device = target(machine, name, given)
        told = given.get("device", 0)
        if (
            empty := has_no_memory(owner, device, told.node if told is not None else None)
        ) is not None:
            machine.meet(ConstraintKind.META, node, frame, [Meets(node, empty, empty)])
        moved = owner.like(device, move(machine, given, node, frame, device))
        moved.guessed &= owner.maker != Origin.LOAD  # what moves is no number
        return moved
    receiver = Meets(getattr(getattr(node, "func", node), "value", node), owner, owner)
    if name in ("numpy", "__array__"):
        if "force" not in given.named:
            machine.meet(ConstraintKind.HOST, node, frame, [receiver])
        return Unknown("array")
    if name in ("size", "shape"):
        return Number() if given.every() else Items([], Number())
    if name == "is_floating_point" and owner.floating is not None:
        return Const(owner.floating)
    if name in torch.tensor_numbers:
        return Number()
    if name in _OF_OTHERS:  # it is no tensor, then
        return Unknown()
    if name == "type":
        return _typed(machine, owner, given, node, frame)
    if name.startswith("new_"):
        device = (
            machine.asked(given.named["device"].value) if "device" in given.named else owner.device
        )
        return Tensor(
            device, Origin.FACTORY, machine.step(EventKind.MADE, node, frame, device), frame
        )
    if name in ("backward", "register_hook"):
        return Const(None)
    if name in torch.several_results:
        return Items([], owner.like(owner.device))
    others = operands(given)
    drawn = generating(given.named.get("generator"))
    own = (
        name in torch.drawing_methods
    )  # a library's `sample` brings what the cpu's generator draws
    if drawn is not None and (own or drawn.tensor.device != CPU):
        machine.meet(ConstraintKind.GENERATOR, node, frame, [drawn, receiver])
    if name in torch.dimensioning and given.every():
        shaped = owner.like(owner.device, scalar=False)
        shaped.element = False
        return shaped
    if name in torch.shaping:  # a tensor of no dimensions is taken for the number in it
        others = []
    elif name not in torch.taking_any:
        others += unknown_arguments(given)
    if others and name not in torch.taking_any:
        machine.meet(kind_of(machine, name), node, frame, [receiver, *others])
    scalar = True if name in torch.reductions and not given.every() else None
    if name == "clone":
        return owner.like(
            owner.device, Step(EventKind.COPIED, machine.spot(node, frame), owner.device)
        )
    if name in torch.computing:
        return owner.computed(owner.device, scalar=scalar)
    result = owner.like(owner.device, scalar=scalar)
    result.guessed |= name.rstrip("_") not in torch.operations
    open_ = owner.maker == Origin.OTHER and not any(
        step.what == EventKind.MADE for step in owner.steps
    )
    if open_ or owner.maker == Origin.LOAD:
        known = name in torch.shaping or kind_of(machine, name) != ConstraintKind.LIBRARY
        result.guessed |= not known  # of what may be no tensor at all
    if name in torch.floating_methods or name in torch.integral_methods:
        result.floating = name in torch.floating_methods
    return result


#: What a distribution of latents has.
_OF_LATENTS = ("mean", "std", "var", "logvar")


def _typed(machine: Machine, owner: Tensor, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``x.type(...)``: the name of a type, or that of another tensor, tells a device, too."""
    said = given.get("dtype", 0)
    if said is None:
        return Place(owner.device) if owner.device is not None else Unknown()
    value = said.value
    if isinstance(value, External) and not _ends_so(said.node, value):
        return owner.like(None)  # `type(x)`, which told the device, too, in torch before 0.4
    of_other = isinstance(said.node, ast.Call) and ast.unparse(said.node.func).endswith(".type")
    if of_other and not isinstance(value, Place):
        return owner.like(None)
    device = _named_by_type(machine, given)
    if device is None:
        return owner.like(owner.device)
    return owner.like(device, Step(EventKind.MOVED, machine.spot(node, frame), device))


def _ends_so(node: ast.expr, value: External) -> bool:
    """Whether a type is no class of tensors, or an expression spells its name."""
    spelled = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("Tensor")
    return spelled or value.dotted != "torch.Tensor"


def _named_by_type(machine: Machine, given: Arguments) -> Device | None:
    """The device that a type names, as ``torch.cuda.FloatTensor`` does; None of others."""
    value = given.listed[0].value if given.listed else None
    value = given.named["dtype"].value if "dtype" in given.named else value
    named = value.dotted if isinstance(value, External) else getattr(value, "value", None)
    if isinstance(named, str) and named.startswith("torch.cuda."):
        return machine.home()
    return value.device if isinstance(value, Place) else None


def of_batch(machine: Machine, owner: Batch, name: str) -> Value:
    """An attribute of a batch: one of its tensors, unless it is a method or a number."""
    torch = machine.torch
    if name in torch.moves or name in torch.batch_methods or name in torch.same_device:
        return Method(owner, name)  # what is asked for what tensors have is one
    if name in torch.shaping:
        return Method(owner.inner, name)
    if name.startswith("num_"):
        return Number()
    if name == "shape":
        return Items([], Number(), "tuple")
    if name == "data":
        return Batch(owner.inner, mutable=owner.mutable)
    if name == "latent_dist":
        found = Object("distribution")
        found.attributes = {each: owner.inner.like(owner.inner.device) for each in _OF_LATENTS}
        return found
    return owner.inner.like(owner.inner.device)


def names_some(given: Arguments) -> bool:
    """Whether a move of a batch is told which of its tensors, as ``data.to(device, "x", "y")`` is."""
    others = (one.value for one in given.listed[1:])
    return any(isinstance(value, Const) and isinstance(value.value, str) for value in others)


def batch_method(
    machine: Machine, owner: Batch, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a batch gives."""
    if name in machine.torch.moves:
        device = target(machine, name, given)
        if names_some(given):  # of what it holds only those move
            return Batch(owner.inner.like(None))
        moved = owner.inner.like(device, move(machine, given, node, frame, device))
        if owner.mutable:
            owner.inner = moved
            return owner
        owner.inner = owner.inner.like(
            None
        )  # of a structure that nobody knows: it may move in place
        return Batch(moved)
    if name == "items":
        return Items([], Items([Unknown(KEY), owner.inner.like(owner.inner.device)]))
    if name in ("values", "get", "pop"):
        inner = owner.inner.like(owner.inner.device)
        key = given.listed[0].value if given.listed else Const(None)
        inner.guessed |= inner.maker == Origin.LOAD and may_be_number(machine, key)
        return Items([], inner) if name == "values" else inner
    if name in ("clone", "copy", "contiguous", "coalesce") and owner.mutable:
        return Batch(owner.inner.like(owner.inner.device), mutable=True)
    if name in ("keys",):
        return Items([], Unknown(KEY))
    if name == "set":  # which brings it to where the others are
        return owner
    if name == "update":
        given_ = [one.tensor for one in operands(given)]
        places = {one.device for one in given_}
        owner.inner = given_[0] if len(places) == 1 else owner.inner.like(None)
        return Const(None)
    return tensor_method(machine, owner.inner, name, given, node, frame)


def moved(
    value: Value, device: Device | None, step: Step, done: dict[int, Value] | None = None
) -> Value:
    """A value whose tensors are elsewhere; what it holds twice, or in itself, is moved once (``done``)."""
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    match value:
        case Tensor():
            return value.like(device, step)
        case Batch():
            return Batch(value.inner.like(device, step), mutable=value.mutable)
        case Items():
            items = done[id(value)] = Items([])
            items.items = [moved(item, device, step, done) for item in value.items]
            items.more = value.more and moved(value.more, device, step, done)
            return items
        case Table():
            table = done[id(value)] = Table({})
            table.items = {k: moved(each, device, step, done) for k, each in value.items.items()}
            table.more = value.more and moved(value.more, device, step, done)
            return table
    return value


def unknown_arguments(given: Arguments) -> list[Meets]:
    """Arguments of which nothing is known: they may be tensors."""
    return [
        Meets(one.node, one.value, Tensor(None))
        for one in given.every()
        if isinstance(one.value, Unknown)
    ]
