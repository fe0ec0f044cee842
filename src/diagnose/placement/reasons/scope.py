"""Expressions for a device that are in scope at a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from diagnose.placement.devices import differ, written
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot
from diagnose.placement.steps import Reason, born_at, last_move
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Around, Const, Frame, Object, Place, Value
from diagnose.placement.walking import walk


def in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    """Expressions for a device that may stand at a place, best first."""
    yield from dict.fromkeys(_in_scope(frame, spot, wanted))


def _in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    line = spot.line
    bound = [name for name in frame.names if frame.lines.get(name, line) < line]
    # Most variables are tensors: of those only where they are counts.
    tensors = [(n, value) for n in bound if isinstance(value := frame.names[n], Tensor)]
    rest = [name for name in bound if not isinstance(frame.names[name], Tensor)]
    local = [(name, frame.names[name]) for name in rest if name.isidentifier()]
    for name, value in local:
        if (device := _device(value)) is not None and not differ(device, wanted):
            yield name
    yield from _of_models("", dict(local), wanted)
    if frame.function is not None and frame.this is not None:
        held = frame.this.plain if isinstance(frame.this, Module) else {}
        held = frame.this.attributes if isinstance(frame.this, Object) else held
        for name, value in held.items():
            held_device = _device(value)
            if held_device is not None and not differ(held_device, wanted):
                yield f"self.{name}"
        yield from _of_models("self.", held, wanted)
    inside = (frame.function or "").rpartition(".")[2] == "forward"
    if inside:
        for name, device in _tensors(tensors, frame, spot):
            if not differ(device, wanted):
                yield f"{name}.device"
    for name, value in local:
        if isinstance(value, Object) and value.kind == "accelerator":
            yield f"{name}.device"
    for name, device in _tensors(tensors, frame, spot):
        if differ(device, wanted) is False:
            yield f"{name}.device"
    for name in _names_around(frame) if frame.function else ():
        outer = frame.around.get(name)
        there = _device(outer)
        if there is not None and not differ(there, wanted):
            yield name
        if isinstance(outer, Object) and outer.kind == "accelerator":
            yield f"{name}.device"
    whole = frame.this if isinstance(frame.this, Module) else None
    if whole is not None and not (frame.function or "").endswith(".__init__"):
        where = whole.where()
        if where is not None and differ(where, wanted) is False:
            yield "next(self.parameters()).device"
    for name, value in local:
        if not isinstance(value, Module) or name == "self" or _moves_later(value, spot):
            continue
        where = value.where()
        if where is not None and differ(where, wanted) is False:
            yield f"next({name}.parameters()).device"
    kept = frame.this.attributes if isinstance(frame.this, Object) and frame.function else {}
    for name, value in kept.items():
        where = value.where() if isinstance(value, Module) else None
        if where is not None and differ(where, wanted) is False:
            yield f"next(self.{name}.parameters()).device"
    yield from _of_settings("", local, wanted)
    yield from _of_settings("self.", list(kept.items()), wanted)


def _tensors(
    tensors: Sequence[tuple[str, Tensor]], frame: Frame, spot: Spot
) -> Iterator[tuple[str, Device]]:
    """Those tensors that are on an accelerator where a place is, each with its device."""
    for name, value in tensors:
        if value.device is None or value.device.type == "cpu" or not name.isidentifier():
            continue
        if not _moves_later(value, spot) and not begins_as_number(name, frame):
            yield name, value.device


def _of_settings(
    owner: str, held: Sequence[tuple[str, Value]], wanted: Device | None
) -> Iterator[str]:
    """The devices that objects of the program's tell in a field: ``settings.device``."""
    for name, value in held:
        if isinstance(value, Object) and value.made is not None and name != "self":
            for field, one in {**value.made.members, **value.attributes}.items():
                if (device := _device(one)) is not None and not differ(device, wanted):
                    yield f"{owner}{name}.{field}"


def _names_around(frame: Frame) -> Iterator[str]:
    """The names that a function sees of what is around it, innermost first: not those of its class."""
    around = frame.around
    while isinstance(around, Around):
        if not around.frame.is_class_body():
            yield from [name for name in around.frame.names if name not in frame.names]
        around = around.frame.around


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
    for one in walk(tree):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant):
            for target in one.targets:
                found.setdefault(ast.unparse(target), set()).add(one.lineno)
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
    gone = other.tensor.device is not None and other.tensor.device.type != "cuda"
    return (f"{node.id}.device",) if isinstance(value, Tensor) and bound and not gone else ()


def _of_models(owner: str, held: Mapping[str, Value], wanted: Device | None) -> Iterator[str]:
    """The devices that models remember: ``self.model.second``, of one that is split."""
    for name, value in held.items():
        plain = value.plain if isinstance(value, Module) and name != "self" else {}
        for part, one in plain.items():
            if (device := _device(one)) is not None and differ(device, wanted) is False:
                yield f"{owner}{name}.{part}"


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
