"""Factories of torch: where what they make is."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Arguments, Meets, generating, origin
from diagnose.placement.model import Device
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Frame, Unknown


def factory(call: CallSite) -> Tensor:
    """What is made of sizes and numbers: on the default device, or the one that is told."""
    open_ = "device" not in call.given.named and _may_be_told(call)
    return _made(call, None if open_ else call.machine.default)


def empty(call: CallSite) -> Tensor:
    """The same; without elements it is there until something takes its place, and mixes with any."""
    if not _is_empty(call.given):
        return factory(call)
    return _made(call, None, scalar=True)


def like_another(call: CallSite) -> Tensor:
    """What resembles a tensor, and is where that is."""
    first = call.first
    return _made(call, first.device if isinstance(first, Tensor) else None)


def of_values(call: CallSite) -> Tensor:
    """What is made of values that may be tensors, and is where these are."""
    said = call.argument(call.effect.of)
    if said is None or not isinstance(said.value, Tensor | Batch | Unknown):
        return factory(call)
    return _made(call, next((one.device for one in tensors_in(said.value)), None))


def of_data(call: CallSite) -> Tensor:
    """What is made of numbers, lists of such or an array; or of a tensor, where that is."""
    first, default = call.first, call.machine.default
    array = isinstance(first, Unknown) and first.word == "array"
    # Of what is not known it may be a number's, which mixes with tensors anywhere.
    number = not array and not isinstance(first, Items | Table | Tensor | Batch)
    maker = Origin.ARRAY if array else Origin.FACTORY
    if _may_be_tensor(call.given, call.frame):
        return _made(call, None, maker, scalar=number)
    if inner := next(tensors_in(first), None) if first else None:
        # Of a list the numbers are taken out; what is read of the result may be a number's, too.
        kept = not isinstance(first, Items) or inner.device == default
        return _made(call, inner.device if kept else None, maker, scalar=number)
    open_ = "device" not in call.given.named and _may_be_told(call)
    return _made(call, None if open_ else default, maker, scalar=number)


def of_array(call: CallSite) -> Tensor:
    """What shares the memory of an array."""
    return _made(call, CPU, Origin.ARRAY)


def drawn(call: CallSite) -> Tensor:
    """Numbers around those of a tensor, or of a size that is told."""
    if len(call.given.listed) > 2 or "size" in call.given.named:
        return factory(call)
    held = next((t for one in call.given.every() for t in tensors_in(one.value)), None)
    return _made(call, held.device if held is not None else None)


def _made(
    call: CallSite,
    device: Device | None,
    maker: Origin = Origin.FACTORY,
    *,
    scalar: bool = False,
) -> Tensor:
    """What a factory makes: where it is told, or what it writes into is; else on ``device``."""
    said, into = call.given.named.get("device"), call.given.named.get("out")
    first, drawn = call.first, generating(call.given.named.get("generator"))
    if into is not None and isinstance(into.value, Tensor | Batch | Unknown):
        device = next((one.device for one in tensors_in(into.value)), None)
    if said is not None and not (isinstance(said.value, Const) and said.value.value is None):
        device = call.machine.asked(said.value)
        if isinstance(said.value, Unknown) and device == HOME and said.value.word != "device":
            device = None
    if drawn is not None:
        here = call.tensor(device, Origin.FACTORY)
        call.meet(ConstraintKind.GENERATOR, [drawn, Meets(call.node, here, here)])
    nothing = isinstance(first, Items) and not first.items and first.more is None
    of = origin(said.value) if said is not None else call.machine.default_of
    made = call.step(EventKind.MADE, device, of)
    found = Tensor(device, maker, made, call.frame, scalar=scalar or nothing)
    found.floating = _is_floating(call)
    return found


def _is_empty(given: Arguments) -> bool:
    """Whether a factory is told to make no element: what stands in for a tensor."""
    first = given.listed[0].value if len(given.listed) == 1 else None
    if isinstance(first, Items) and len(first.items) == 1 and first.more is None:
        first = first.items[0]
    return isinstance(first, Const) and first.value == 0


def _is_floating(call: CallSite) -> bool | None:
    """Whether a factory makes numbers of a floating-point type; None where that is not known."""
    torch = call.machine.torch
    if "dtype" not in call.given.named:
        return _either(call.last in torch.floating_factories, call.last in torch.integral_factories)
    told = call.given.named["dtype"].value
    root, _, name = told.dotted.partition(".") if isinstance(told, External) else ("", "", "")
    kinds = (torch.floating_types, torch.integral_types)
    return _either(*(root == "torch" and name.startswith(tuple(each)) for each in kinds))


def _either(one: bool, other: bool) -> bool | None:
    return one if one or other else None


def _may_be_told(call: CallSite) -> bool:
    """Whether what a function is handed by ``**`` may name a device: of one that nothing calls it may."""
    node, within = call.node, call.frame.call
    entered = within.node if within is not None else None
    spread = isinstance(node, ast.Call) and any(one.arg is None for one in node.keywords)
    open_ = "**" in call.given.named or isinstance(entered, ast.FunctionDef | ast.AsyncFunctionDef)
    return spread and open_


def _may_be_tensor(given: Arguments, frame: Frame) -> bool:
    """Whether a method of a module is handed what it makes a tensor of: a copy, where it is one already."""
    first = given.listed[0] if given.listed else None
    if first is None or not isinstance(frame.this, Module) or not isinstance(first.value, Unknown):
        return False
    if (frame.function or "").endswith(".__init__"):  # which is told numbers
        return False
    node = first.node
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    return isinstance(node, ast.Name) and frame.lines.get(node.id) == 0
