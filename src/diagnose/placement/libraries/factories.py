"""Factories of torch: where what they make is."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model import TorchNames
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.machine import Arguments, Machine, Meets, generating, origin
from diagnose.placement.model import Device
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Frame, Unknown, Value


def _is_empty(given: Arguments) -> bool:
    """Whether a factory is told to make no element: what stands in for a tensor."""
    first = given.listed[0].value if len(given.listed) == 1 else None
    if isinstance(first, Items) and len(first.items) == 1 and first.more is None:
        first = first.items[0]
    return isinstance(first, Const) and first.value == 0


def factory(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A factory: on the device that it is told, or that of the tensor that it resembles."""
    said = given.named.get("device")
    first = given.listed[0].value if given.listed else None
    device: Device | None = machine.default
    empty = last in ("empty", "Tensor") and _is_empty(given)
    filled = _filled(last, given)
    if empty and said is None:  # it is there until something takes its place
        device = None
    elif isinstance(filled, Tensor | Batch | Unknown):
        device = next((one.device for one in tensors_in(filled)), None)
    elif last.endswith("_like"):
        device = first.device if isinstance(first, Tensor) else None
    elif last in ("tensor", "as_tensor", "asarray") and _may_be_tensor(given, frame):
        device = None
    elif last in ("tensor", "as_tensor", "asarray") and (
        inner := next(tensors_in(first), None) if first else None
    ):
        # Of a list the numbers are taken out; what is read of the result may be a number's, too.
        kept = not isinstance(first, Items) or inner.device == machine.default
        device = inner.device if kept else None
    elif last in ("from_numpy", "frombuffer"):
        device = CPU
    elif last == "normal" and len(given.listed) < 3 and "size" not in given.named:
        held = next((t for one in given.every() for t in tensors_in(one.value)), None)
        device = held.device if held is not None else None  # its mean's, or its deviation's
    elif said is None and _may_be_told(given, node, frame):
        device = None
    if said is not None and not (isinstance(said.value, Const) and said.value.value is None):
        device = machine.asked(said.value)
        if isinstance(said.value, Unknown) and device == HOME and said.value.word != "device":
            device = None
    drawn = generating(given.named.get("generator"))
    if drawn is not None:
        here = Tensor(
            device, Origin.FACTORY, machine.step(EventKind.MADE, node, frame, device), frame
        )
        machine.meet(ConstraintKind.GENERATOR, node, frame, [drawn, Meets(node, here, here)])
    maker = Origin.ARRAY if last in ("from_numpy", "frombuffer") else Origin.FACTORY
    if last in ("tensor", "as_tensor") and isinstance(first, Unknown) and first.word == "array":
        maker = Origin.ARRAY
    # Of what is not known it may be a number's, which mixes with tensors anywhere.
    number = last in ("tensor", "as_tensor", "scalar_tensor") and maker != Origin.ARRAY
    number = number and not isinstance(first, Items | Table | Tensor | Batch)
    number = number or (isinstance(first, Items) and not first.items and first.more is None)
    number = number or empty
    of = origin(said.value) if said is not None else machine.default_of
    made = machine.step(EventKind.MADE, node, frame, device, of)
    found = Tensor(device, maker, made, frame, scalar=number)
    found.floating = _is_floating(machine.torch, last, given)
    return found


def _is_floating(torch: TorchNames, last: str, given: Arguments) -> bool | None:
    """Whether a factory makes numbers of a floating-point type; None where that is not known."""
    if "dtype" not in given.named:
        return _either(last in torch.floating_factories, last in torch.integral_factories)
    told = given.named["dtype"].value
    root, _, name = told.dotted.partition(".") if isinstance(told, External) else ("", "", "")
    kinds = (torch.floating_types, torch.integral_types)
    return _either(*(root == "torch" and name.startswith(tuple(each)) for each in kinds))


def _either(one: bool, other: bool) -> bool | None:
    return one if one or other else None


def _may_be_told(given: Arguments, node: ast.AST, frame: Frame) -> bool:
    """Whether what a function is handed by ``**`` may name a device: of one that nothing calls it may."""
    entered = frame.call.node if frame.call is not None else None
    spread = isinstance(node, ast.Call) and any(one.arg is None for one in node.keywords)
    open_ = "**" in given.named or isinstance(entered, ast.FunctionDef | ast.AsyncFunctionDef)
    return spread and open_


def _filled(last: str, given: Arguments) -> Value | None:
    """What a factory's result is in, or of: ``out=``, the values of a sparse tensor."""
    said = given.named.get("out")
    if said is None and last == "sparse_coo_tensor":
        said = given.get("values", 1)
    return said.value if said is not None else None


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
