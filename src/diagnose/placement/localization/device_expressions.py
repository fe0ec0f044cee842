"""Expressions for a device that are in scope at a place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from diagnose.kinds import DeviceType
from diagnose.placement.devices import differ, written
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot
from diagnose.placement.provenance import Reason, born_at, last_move
from diagnose.placement.semantics import bindings
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Around, Const, Frame, Object, Place, Value


class _Told(NamedTuple):
    """An expression for a device: the variable or attribute that it begins with, the device, and the value
    that is there, where that may move."""

    name: str
    said: str
    device: Device
    value: Tensor | Module | None = None


class _Held(NamedTuple):
    """What the variables of a call, or the attributes of an object, tell of devices: ``named`` are those
    that hold one, or an accelerator, ``models`` remember theirs (``self.model.second``, of one that is
    split), ``settings`` are fields of the program's objects."""

    named: list[str]
    devices: list[_Told]
    models: list[_Told]
    tensors: list[_Told]
    modules: list[_Told]
    settings: list[_Told]


def in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    """Expressions for a device that may stand at a place, best first. The program is not run any more."""
    told = set[str]()
    for one in _in_scope(frame, spot, wanted):
        if one not in told:
            told.add(one)
            yield one


def _in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    here, function = _of_frame(frame), frame.function or ""
    own = _of_object(frame.this if frame.function is not None else None)
    kept = own if isinstance(frame.this, Object) else _of_object(None)
    yield from _maybe(_there(here.devices, frame, spot), wanted)
    yield from _surely(_there(here.models, frame, spot), wanted)
    yield from _maybe(own.devices, wanted)
    yield from _surely(own.models, wanted)
    if function.rpartition(".")[2] == "forward":
        yield from _maybe(_there(here.tensors, frame, spot), wanted)
    for name in here.named:
        if isinstance(frame.names[name], Object) and _is_bound(name, frame, spot):
            yield f"{name}.device"
    yield from _surely(_there(here.tensors, frame, spot), wanted)
    yield from _around(frame, wanted) if function else ()
    whole = frame.this if isinstance(frame.this, Module) else None
    if whole is not None and not function.endswith(".__init__"):
        where = whole.where()
        if where is not None and differ(where, wanted) is False:
            yield "next(self.parameters()).device"
    yield from _surely(_there(here.modules, frame, spot), wanted)
    yield from _surely(kept.modules, wanted)
    yield from _maybe(_there(here.settings, frame, spot), wanted)
    yield from _maybe(kept.settings, wanted)


def _maybe(told: Iterable[_Told], wanted: Device | None) -> Iterator[str]:
    return (one.said for one in told if not differ(one.device, wanted))


def _surely(told: Iterable[_Told], wanted: Device | None) -> Iterator[str]:
    return (one.said for one in told if differ(one.device, wanted) is False)


def _there(told: Iterable[_Told], frame: Frame, spot: Spot) -> Iterator[_Told]:
    """Those whose variables are bound, and where they are in the end, before a place."""
    for one in told:
        if not _is_bound(one.name, frame, spot) or (one.value and _moves_later(one.value, spot)):
            continue
        if not isinstance(one.value, Tensor) or not begins_as_number(one.name, frame):
            yield one


def _is_bound(name: str, frame: Frame, spot: Spot) -> bool:
    return frame.lines.get(name, spot.line) < spot.line


def _around(frame: Frame, wanted: Device | None) -> Iterator[str]:
    """The devices that a function sees of what is around it, innermost first: not those of its class."""
    around = frame.around
    while isinstance(around, Around):
        seen = () if around.frame.is_class_body() else _of_frame(around.frame).named
        for name in (one for one in seen if one not in frame.names):
            outer = frame.around.get(name)
            there = _device(outer)
            if there is not None and not differ(there, wanted):
                yield name
            if isinstance(outer, Object) and outer.kind == "accelerator":
                yield f"{name}.device"
        around = around.frame.around


# Kept for all findings of a program that has run: most are of the same few calls and objects.
@lru_cache(maxsize=16)
def _of_frame(frame: Frame) -> _Held:
    return _held("", {name: one for name, one in frame.names.items() if name.isidentifier()})


@lru_cache(maxsize=16)
def _of_object(this: Value | None) -> _Held:
    held = this.plain if isinstance(this, Module) else {}
    return _held("self.", this.attributes if isinstance(this, Object) else held)


def _held(owner: str, names: Mapping[str, Value]) -> _Held:
    found = _Held([], [], [], [], [], [])
    for name, value in names.items():
        said, device = f"{owner}{name}", _device(value)
        if device is not None:
            found.devices.append(_Told(name, said, device))
        if device is not None or (isinstance(value, Object) and value.kind == "accelerator"):
            found.named.append(name)
        if (
            isinstance(value, Tensor)
            and value.device is not None
            and value.device.type != DeviceType.CPU
        ):
            found.tensors.append(_Told(name, f"{said}.device", value.device, value))
        if name == "self":
            continue
        if isinstance(value, Module):
            found.models.extend(_fields(name, said, value.plain))
            if (where := value.where()) is not None:
                found.modules.append(_Told(name, f"next({said}.parameters()).device", where, value))
        if isinstance(value, Object) and value.made is not None:
            found.settings.extend(_fields(name, said, {**value.made.members, **value.attributes}))
    return found


def _fields(name: str, said: str, held: Mapping[str, Value]) -> Iterator[_Told]:
    for field, value in held.items():
        if (device := _device(value)) is not None:
            yield _Told(name, f"{said}.{field}", device)


def begins_as_number(name: str, frame: Frame) -> bool:
    """Whether a variable or attribute is bound to a number first: tensors are added to it."""
    numbers = _numbers(frame.source.tree)
    if "." in name:
        return name in numbers
    return frame.lines.get(name) in numbers.get(name, ())


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
    if move is None or (move.spot.file, move.spot.function) != (spot.file, spot.function):
        return False
    return move.spot.line > spot.line and born_at(value.steps) is not None


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
    gone = other.tensor.device is not None and other.tensor.device.type != DeviceType.CUDA
    return (f"{node.id}.device",) if isinstance(value, Tensor) and bound and not gone else ()


def _device(value: Value | None) -> Device | None:
    """The device that a variable holds, as a `torch.device` or as its name."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return written(value.value)
    return value.device if isinstance(value, Place) else None


def models_in(frame: Frame, model: Module) -> Iterator[str]:
    """The names that a call has for a model, or for what wraps it."""
    kept = frame.this.attributes if isinstance(frame.this, Object) else {}
    held = {**frame.names, **{f"self.{name}": value for name, value in kept.items()}}
    for name, value in held.items():
        if isinstance(value, Module) and (value is model or value.whole() is model):
            yield name
