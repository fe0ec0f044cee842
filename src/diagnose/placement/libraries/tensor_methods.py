"""What methods of tensors and of batches of them do to placement."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.assignments import KEY
from diagnose.placement.devices import CPU, HOME, is_known
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.weights import has_no_memory, may_be_number
from diagnose.placement.machine import (
    Arguments,
    Machine,
    Meets,
    elements,
    generating,
    kind_of,
    operands,
    origin,
)
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Method, Number, Object, Place, Unknown, Value


def target(call: CallSite) -> Device | None:
    """The device that ``.to(...)``, ``.cuda(...)``, ``.cpu()`` or ``.type_as(x)`` moves to."""
    if call.name == "cpu":
        return CPU
    if call.name in call.machine.torch.accelerators:
        told = call.given.get("device", 0) is not None
        return (call.device("device", 0) or HOME) if told else call.machine.home()
    return _named_by_type(call) if call.name == "type" else call.device("device", 0)


def move(call: CallSite, device: Device | None) -> Step:
    """The step of a move, with the literal that its device was written as."""
    said = call.given.get("device", 0)
    return call.moves(device, origin(said.value) if said is not None else None)


def is_move(call: CallSite) -> bool:
    """False for ``.to(dtype)``."""
    if call.name == "cpu" or call.name in call.machine.torch.accelerators:
        return True
    if call.name == "type":  # a type that nobody knows may be one of a GPU's
        said = call.given.get("dst_type", 0)
        unknown = said is not None and isinstance(said.value, Unknown)
        return unknown or _named_by_type(call) is not None
    found = call.given.get("device", 0)
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
    match name:
        case "device":
            return Place(owner.device, owner.steps) if owner.device is not None else Unknown()
        case "values" | "indices":
            return owner.like(owner.device)
        case "shape":
            return Items([], Number())
        case "is_cuda" if is_known(owner.device):
            return Const(owner.device.type == DeviceType.CUDA)
        case "requires_grad" if owner.maker == Origin.FACTORY:
            return Const(False)  # what is trained is a parameter, most often
    attribute = name in machine.torch.tensor_attributes
    return owner.like(owner.device) if attribute else Method(owner, name)


def _receiver(owner: Tensor, call: CallSite) -> Meets:
    return Meets(getattr(getattr(call.node, "func", call.node), "value", call.node), owner, owner)


def moves_tensor(owner: Tensor, call: CallSite) -> Value:
    """``to``, ``cuda`` and their like give it on another device, or of another type."""
    if not is_move(call):
        return owner.like(owner.device)
    device, told = target(call), call.given.get("device", 0)
    empty = has_no_memory(owner, device, told.node if told is not None else None)
    if empty is not None:
        call.meet(ConstraintKind.META, [Meets(call.node, empty, empty)])
    moved = owner.like(device, move(call, device))
    moved.guessed &= owner.maker != Origin.LOAD  # what moves is no number
    return moved


def to_array(owner: Tensor, call: CallSite) -> Value:
    """An array that shares its memory, on the host."""
    if "force" not in call.given.named:
        call.meet(ConstraintKind.HOST, [_receiver(owner, call)])
    return Unknown("array")


def sizes(owner: Tensor, call: CallSite) -> Value:
    """Its sizes, or one of them."""
    return Number() if call.given.every() else Items([], Number())


def tells_floating(owner: Tensor, call: CallSite) -> Value:
    """Whether it is of a floating-point type."""
    return Number() if owner.floating is None else Const(owner.floating)


def makes_beside(owner: Tensor, call: CallSite) -> Value:
    """Another tensor, where it is unless a device is told."""
    told = "device" in call.given.named
    return call.tensor(call.device("device") if told else owner.device, Origin.FACTORY)


def copies_tensor(owner: Tensor, call: CallSite) -> Value:
    """A copy, where it is."""
    return owner.like(owner.device, Step(EventKind.COPIED, call.spot, owner.device))


def _may_be_no_tensor(owner: Tensor) -> bool:
    """Whether what is taken for a tensor was made where nobody saw it."""
    made = any(step.what == EventKind.MADE for step in owner.steps)
    return owner.maker == Origin.LOAD or (owner.maker == Origin.OTHER and not made)


def other_tensor_method(owner: Tensor, call: CallSite) -> Value:
    """An operation: the tensor meets the others that it is given."""
    torch, name = call.machine.torch, call.name
    if name in torch.several_results:
        return Items([], owner.like(owner.device))
    others = operands(call.given)
    drawn = generating(call.given.named.get("generator"))
    own = (
        name in torch.drawing_methods
    )  # a library's `sample` brings what the cpu's generator draws
    if drawn is not None and (own or drawn.tensor.device != CPU):
        call.meet(ConstraintKind.GENERATOR, [drawn, _receiver(owner, call)])
    if name in torch.dimensioning and call.given.every():
        shaped = owner.like(owner.device, scalar=False)
        shaped.element = False
        return shaped
    if name in torch.shaping:  # a tensor of no dimensions is taken for the number in it
        others = []
    elif name not in torch.taking_any:
        others += unknown_arguments(call.given)
    kind = kind_of(call.machine, name)
    if others and name not in torch.taking_any:
        call.meet(kind, [_receiver(owner, call), *others])
    scalar = True if name in torch.reductions and not call.given.every() else None
    if name in torch.computing:
        return owner.computed(owner.device, scalar=scalar)
    result = owner.like(owner.device, scalar=scalar)
    result.guessed |= name.rstrip("_") not in torch.operations
    if _may_be_no_tensor(owner):
        known = name in torch.shaping or kind != ConstraintKind.LIBRARY
        result.guessed |= not known  # of what may be no tensor at all
    if name in torch.floating_methods or name in torch.integral_methods:
        result.floating = name in torch.floating_methods
    return result


#: What a distribution of latents has.
_OF_LATENTS = ("mean", "std", "var", "logvar")


def typed(owner: Tensor, call: CallSite) -> Value:
    """``x.type(...)``: the name of a type, or that of another tensor, tells a device, too."""
    said = call.given.get("dtype", 0)
    if said is None:
        return Place(owner.device) if owner.device is not None else Unknown()
    value = said.value
    if isinstance(value, External) and not _ends_so(said.node, value):
        return owner.like(None)  # `type(x)`, which told the device, too, in torch before 0.4
    of_other = isinstance(said.node, ast.Call) and ast.unparse(said.node.func).endswith(".type")
    if of_other and not isinstance(value, Place):
        return owner.like(None)
    device = _named_by_type(call)
    return owner.like(device or owner.device, *([call.moves(device)] if device is not None else ()))


def _ends_so(node: ast.expr, value: External) -> bool:
    """Whether a type is no class of tensors, or an expression spells its name."""
    spelled = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("Tensor")
    return spelled or value.dotted != "torch.Tensor"


def _named_by_type(call: CallSite) -> Device | None:
    """The device of a type's tensors, as of ``torch.cuda.FloatTensor`` and ``torch.FloatTensor``; None of
    others, which have data of some type on any device."""
    said = call.given.get("dtype", 0)
    value = said.value if said is not None else None
    named = value.dotted if isinstance(value, External) else getattr(value, "value", None)
    if isinstance(named, str) and named.startswith("torch.cuda."):
        return call.machine.home()
    if isinstance(named, str) and re.fullmatch(r"torch\.[A-Z][a-z]+Tensor", named):
        return CPU
    return value.device if isinstance(value, Place) else None


def of_batch(machine: Machine, owner: Batch, name: str) -> Value:
    """An attribute of a batch: one of its tensors, unless it is a method or a number."""
    torch = machine.torch
    if name in torch.moves or name in torch.batch_methods or name in torch.same_device:
        return Method(owner, name)  # what is asked for what tensors have is one
    if name in torch.shaping:
        return Method(owner.inner, name)
    match name:
        case "shape":
            return Items([], Number(), "tuple")
        case "data":
            return Batch(owner.inner, mutable=owner.mutable)
        case "latent_dist":
            found = Object("diffusers.DiagonalGaussianDistribution")
            found.attributes = {each: owner.inner.like(owner.inner.device) for each in _OF_LATENTS}
            return found
    return Number() if name.startswith("num_") else owner.inner.like(owner.inner.device)


def names_some(given: Arguments) -> bool:
    """Whether a move of a batch is told which of its tensors, as ``data.to(device, "x", "y")`` is."""
    others = (one.value for one in given.listed[1:])
    return any(isinstance(value, Const) and isinstance(value.value, str) for value in others)


def moves_batch(owner: Batch, call: CallSite) -> Value:
    """A batch moves in place, or may: of a structure that nobody knows the one that it gives has moved."""
    device = target(call)
    if names_some(call.given):  # of what it holds only those move
        return Batch(owner.inner.like(None))
    moved = owner.inner.like(device, move(call, device))
    if owner.mutable:
        owner.inner = moved
        return owner
    owner.inner = owner.inner.like(None)
    return Batch(moved)


def batch_items(owner: Batch, call: CallSite) -> Value:
    """Its tensors, their names, or one of them: of a checkpoint that may be a number."""
    inner = owner.inner.like(owner.inner.device)
    match call.effect.gives:
        case "names":
            return Items([], Unknown(KEY))
        case "pairs":
            return Items([], Items([Unknown(KEY), inner]))
        case "all":
            return Items([], inner)
    key = call.first or Const(None)
    inner.guessed |= inner.maker == Origin.LOAD and may_be_number(call.machine, key)
    return inner


def batch_copy(owner: Batch, call: CallSite) -> Value | None:
    """A copy of what moves in place."""
    inner = owner.inner
    return Batch(inner.like(inner.device), mutable=True) if owner.mutable else None


def updates_batch(owner: Batch, call: CallSite) -> Value:
    """It takes over the tensors of another."""
    given = [one.tensor for one in operands(call.given)]
    places = {one.device for one in given}
    owner.inner = given[0] if len(places) == 1 else owner.inner.like(None)
    return Const(None)


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
    """Arguments of which nothing is known, and items of their lists: they may be tensors."""
    return [
        Meets(node, each, Tensor(None))
        for one in given.every()
        for node, value in elements(one)
        for each in (value.every() if isinstance(value, Items) else (value,))
        if isinstance(each, Unknown)
    ]
