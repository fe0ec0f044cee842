"""Expressions for a device that are in scope at a place, and what one line corrects at the call of a
function: a device that it leaves out, what it makes, the layers that it adds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, auto
from functools import lru_cache
from heapq import merge
from typing import NamedTuple

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.device_patterns import told_above
from diagnose.placement.devices import differ, is_gpu, is_host, is_known, written
from diagnose.placement.localization.availability import (
    has_device,
    has_placed,
    has_tensor,
    held_in,
    key_of,
    where_built,
)
from diagnose.placement.localization.question import Question, classes_of
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import Reason, born_at, last_move
from diagnose.placement.semantics import (
    Function,
    argument,
    bindings,
    calls,
    calls_of,
    defaults,
    nodes,
    parameters,
    position_of,
    unpacks,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Around, Const, Frame, Object, Place, Unknown, Value


class Kind(IntEnum):
    """How an expression tells a device; what comes first is preferred."""

    VARIABLE = auto()
    MODEL_FIELD = auto()
    ATTRIBUTE = auto()
    ATTRIBUTE_FIELD = auto()
    INPUT = auto()
    ACCELERATOR = auto()
    TENSOR = auto()
    ENCLOSING = auto()
    SELF = auto()
    MODULE = auto()
    KEPT_MODULE = auto()
    SETTING = auto()
    KEPT_SETTING = auto()


#: What tells the device that a program chose, though which that is may not be known.
_CHOSEN = frozenset(
    {Kind.VARIABLE, Kind.ATTRIBUTE, Kind.INPUT, Kind.ENCLOSING, Kind.SETTING, Kind.KEPT_SETTING}
)


class DeviceExpression(NamedTuple):
    """An expression for a device: how it tells that, the device where that is known, the variable that it
    begins with, and the value that is there, where that may move."""

    text: str
    kind: Kind
    device: Device | None = None
    name: str = ""
    value: Tensor | Module | None = None


def in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    """Expressions for a device that may stand at a place, best first. The program is not run any more."""
    told = set[str]()
    for one in device_expressions(frame, spot, wanted):
        if one.text not in told:
            told.add(one.text)
            yield one.text


def device_expressions(
    frame: Frame, spot: Spot, wanted: Device | None
) -> Iterator[DeviceExpression]:
    """Expressions for a device that are bound at a place, best first.

    Args:
        frame: the variables there.
        spot: the place.
        wanted: the device; None for whatever the program chose.
    """
    function = frame.function or ""
    own = _of_object(frame.this) if frame.function is not None else ()
    found = [iter(_of_frame(frame)), iter(own), _around(frame) if function else iter(())]
    if isinstance(frame.this, Module) and not function.endswith(".__init__"):
        text = "next(self.parameters()).device"
        found.append(iter([DeviceExpression(text, Kind.SELF, frame.this.where())]))
    for one in merge(*found, key=_kind):  # few of them are asked for
        if _denotes(one, wanted) and _is_there(one, frame, spot):
            yield one


def _kind(one: DeviceExpression) -> Kind:
    return one.kind


def _denotes(one: DeviceExpression, wanted: Device | None) -> bool:
    """Whether an expression is for a device, as far as that is known."""
    if one.kind == Kind.ACCELERATOR or (one.kind == Kind.ENCLOSING and one.device is None):
        return True
    apart = differ(one.device, wanted)
    return not apart if one.kind in _CHOSEN else apart is False


def _is_there(one: DeviceExpression, frame: Frame, spot: Spot) -> bool:
    """Whether its variable is bound, and where it is in the end, before a place."""
    if one.name and frame.lines.get(one.name, spot.line) >= spot.line:
        return False
    if one.value is not None and _moves_later(one.value, spot):
        return False
    return not isinstance(one.value, Tensor) or not begins_as_number(one.name, frame)


def _around(frame: Frame) -> Iterator[DeviceExpression]:
    """The devices that a function sees of what is around it, innermost first: not those of its class."""
    around = frame.around
    while isinstance(around, Around):
        names = {} if around.frame.is_class_body() else around.frame.names
        for name in (one for one in names if one.isidentifier() and one not in frame.names):
            outer = frame.around.get(name)
            if (there := _device(outer)) is not None:
                yield DeviceExpression(name, Kind.ENCLOSING, there)
            elif isinstance(outer, Object) and outer.kind == "accelerator":
                yield DeviceExpression(f"{name}.device", Kind.ENCLOSING)
        around = around.frame.around


# Kept for all findings of a program that has run: most are of the same few calls and objects.
@lru_cache(maxsize=16)
def _of_frame(frame: Frame) -> Sequence[DeviceExpression]:
    """What the variables of a call say about devices."""
    forward = (frame.function or "").rpartition(".")[2] == "forward"
    tensor = Kind.INPUT if forward else Kind.TENSOR
    found: list[DeviceExpression] = []
    for name, value in frame.names.items():
        if not name.isidentifier():
            continue
        if isinstance(value, Object) and value.kind == "accelerator":
            found.append(DeviceExpression(f"{name}.device", Kind.ACCELERATOR, None, name))
        if isinstance(value, Tensor) and is_known(value.device) and not is_host(value.device):
            found.append(DeviceExpression(f"{name}.device", tensor, value.device, name, value))
        kinds = (Kind.VARIABLE, Kind.MODEL_FIELD, Kind.MODULE, Kind.SETTING)
        found += _told(name, name, value, *kinds)
    return sorted(found, key=_kind)


@lru_cache(maxsize=16)
def _of_object(this: Value | None) -> Sequence[DeviceExpression]:
    """What the attributes of an object say about devices; of a module, what it remembers."""
    held = this.attributes if isinstance(this, Object) else {}
    held = this.plain if isinstance(this, Module) else held
    kinds = (Kind.ATTRIBUTE, Kind.ATTRIBUTE_FIELD, Kind.KEPT_MODULE, Kind.KEPT_SETTING)
    found = [
        one for name, value in held.items() for one in _told("", f"self.{name}", value, *kinds)
    ]
    known = (one for one in found if isinstance(this, Object) or one.kind < Kind.INPUT)
    return sorted(known, key=_kind)


def _told(
    name: str, said: str, value: Value, own: Kind, field: Kind, module: Kind, setting: Kind
) -> Iterator[DeviceExpression]:
    """What a value says about devices: itself, the fields that it remembers, its weights."""
    if (device := _device(value)) is not None:
        yield DeviceExpression(said, own, device, name)
    if said in ("self", "self.self"):
        return
    fields: dict[str, Value] = {}
    if isinstance(value, Module):
        yield DeviceExpression(
            f"next({said}.parameters()).device",
            module,
            value.where(),
            name,
            value if name else None,
        )
        fields = dict(value.plain)
    elif isinstance(value, Object) and value.made is not None:
        fields, field = {**value.made.members, **value.attributes}, setting
    for inner, one in fields.items():
        if (device := _device(one)) is not None:
            yield DeviceExpression(f"{said}.{inner}", field, device, name)


def begins_as_number(name: str, frame: Frame) -> bool:
    """Whether a variable is bound to a number first: tensors are added to it."""
    return frame.lines.get(name) in _numbers(frame.source.tree).get(name, ())


@lru_cache(maxsize=8)
def _numbers(tree: ast.Module) -> Mapping[str, frozenset[int]]:
    """What a file binds to a literal, each with the lines."""
    found: dict[str, set[int]] = {}
    for target, value, by in bindings(tree):
        if isinstance(value, ast.Constant) and isinstance(by, ast.Assign):
            found.setdefault(ast.unparse(target), set()).add(by.lineno)
    return {name: frozenset(lines) for name, lines in found.items()}


def _moves_later(value: Tensor | Module, spot: Spot) -> bool:
    """Whether a value was moved where it is below a place, and was elsewhere there."""
    move = last_move(value.steps)
    return move is not None and spot.is_above(move.spot) and born_at(value.steps) is not None


def of_other(other: Meets | None, found: Reason, meeting: Meeting) -> tuple[str, ...]:
    """The device of the variable that an operand meets, or is a part of, where that is bound before."""
    node = other.node if other is not None else None
    while isinstance(node, ast.Subscript):
        node = node.value
    if other is None or not isinstance(node, ast.Name) or found.frame is not meeting.frame:
        return ()
    value = other.value if node is other.node else found.frame.get(node.id)
    here = found.spot.line == meeting.spot.line
    bound = here or found.frame.lines.get(node.id, found.spot.line) < found.spot.line
    gone = other.tensor.device is not None and not is_gpu(other.tensor.device)
    # What a function is given, and torch joins with a tensor, is one.
    function = meeting.spot.enclosing
    given = function is not None and node.id in {one.arg for one in parameters(function)}
    unknown = isinstance(value, Unknown) and value is other.value and given
    joins = meeting.what == ConstraintKind.JOIN
    tensor = isinstance(value, Tensor) or (unknown and joins)
    return (f"{node.id}.device",) if tensor and bound and not gone else ()


def _device(value: Value | None) -> Device | None:
    """The device that a variable holds, as a `torch.device` or as its name."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return written(value.value)
    return value.device if isinstance(value, Place) else None


def models_in(frame: Frame, model: Module) -> Iterator[str]:
    """The names that a call has for a model, or for what wraps it."""
    for name, value in held_in(frame).items():
        if isinstance(value, Module) and (value is model or value.whole() is model):
            yield name


def is_forgotten_beside(made: Step) -> bool:
    """Whether a factory leaves out the device that another one of the same function, or of the other
    methods of its class, is given."""
    function = made.spot.enclosing
    owner = (made.spot.function or "").rpartition(".")[0]
    around = [*classes_of(made.spot.source.tree).get(owner, ()), *([function] if function else [])]
    return any(_makes_on_device(one) for one in around)


@lru_cache(maxsize=8)
def _makes_on_device(scope: ast.ClassDef | Function) -> bool:
    """Whether torch makes a tensor on a device that a variable holds."""
    torchs = (one for one in calls(scope) if ast.unparse(one.func).startswith("torch."))
    return any(not isinstance(argument(one, "device"), ast.Constant | None) for one in torchs)


def at_call(found: Reason, _: Question) -> Reason | None:
    """The reason at the only call of the function, or the class, whose parameter has a GPU as its default;
    None where the file has several, or where nothing above it tells another device."""
    source = found.spot.source
    written = found.cause == "hardcoded-device"
    for function in nodes(source.tree, ast.FunctionDef) if written else ():
        pairs = defaults(function).items()
        parameter = next((name for name, default in pairs if default is found.spot.node), None)
        if parameter is None:
            continue
        position = position_of(source.tree, function, parameter)
        leaving = [
            one
            for one in calls_of(source.tree, function)
            if argument(one, parameter, position) is None and not unpacks(one)
        ]
        if len(leaving) != 1:
            return None
        (call,) = leaving
        around = source.function_at(call.lineno)
        devices = tuple(told_above(around or source.tree, call.lineno))
        spot = Spot(source, call, around.name if around is not None else None)
        return found._replace(spot=spot, devices=devices) if devices else None
    return None


def of_grown(asked: Question) -> Reason | None:
    """Where a library's method puts layers into a model that was moved before."""
    tensor, grown = asked.tensor, asked.first(EventKind.GROWN)
    if grown is None or tensor.maker != Origin.GROWN:
        return None
    names = tensor.frame.names if tensor.frame is not None else {}
    name = key_of(tensor.module, names) if tensor.module is not None else None
    move = last_move(tensor.module.steps) if tensor.module is not None else None
    spot = move.spot if move is not None else None
    return Reason("submodule-added-after-move", grown.spot, tensor.frame, move=spot, owner=name)


def told_by_a_call(found: Reason, _: Question) -> Reason:
    """The reason at the call of the function that its place is in, if only there a device is known.

    One line fixes it there: what the function makes is moved, or the model to which it adds a layer.
    """
    spot, frame = found.spot, found.frame
    if frame is None or has_device(frame, spot):
        return found
    own = frame.this is not None and frame.caller is not None and frame.caller.this is frame.this
    if found.cause == "created-without-device" and not has_tensor(frame, spot) and not own:
        spot, frame = where_built(Step(EventKind.MADE, spot), frame)
        return found._replace(spot=spot, frame=frame)
    call, caller = frame.call, frame.caller
    late = found.cause == "submodule-added-after-move" and frame.this is None
    if not late or call is None or caller is None:
        return found
    if has_device(caller, call) and not has_placed(frame, spot.line):
        model = frame.names.get(found.owner or "")
        owner = key_of(model, caller.names) if model is not None else found.owner
        return found._replace(spot=call, frame=caller, owner=owner)
    return found
