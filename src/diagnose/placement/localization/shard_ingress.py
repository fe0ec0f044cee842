"""What was brought to another part of a split model than it enters: the line that chose that device."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import islice

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.control_dependence import set_at
from diagnose.placement.devices import differ
from diagnose.placement.localization.availability import frame_at, frames, statement_around
from diagnose.placement.localization.device_expressions import models_in
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.provenance import born_at, device_argument, last_move, said_as
from diagnose.placement.semantics import (
    arguments,
    bindings,
    bound,
    calls,
    dotted,
    holds,
    loads,
    nodes,
    reads,
    returned,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Place

_INPUTS = frozenset({Origin.BATCH, Origin.FACTORY, Origin.ARRAY, Origin.TOKENS})


def brought(meeting: Meeting, devices: Sequence[str]) -> Suspect | None:
    """The move that brought an input to another GPU than the part of a model that is called with it, by a
    function that has the whole model at hand; of a device that was asked of another part, that question.

    Args:
        meeting: a call of a part, or an operation with a weight or buffer of it.
        devices: the devices that the message names.
    """
    part = meeting.sides[0]
    entered = (
        meeting.what in (ConstraintKind.CALL, ConstraintKind.JOIN)
        and part.tensor.maker == Origin.WEIGHT
    )
    if not entered or part.tensor.module is None:
        return None
    whole = part.tensor.module.whole()
    if not _is_split(whole):
        return None
    for side in meeting.sides[1:]:
        move = last_move(side.tensor.steps) or _made_there(side.tensor)
        if side.tensor.maker not in _INPUTS or move is None or _is_on_its_way(move, meeting):
            continue
        if _gives_several(move.spot, meeting.frame):
            continue  # the others may enter another part
        place = _asked(move.spot) if move.what == EventKind.MOVED else None
        frame = frame_at(move.spot, meeting.frame)
        name = next(models_in(frame, whole), None) if frame is not None else None
        if name is None and frame is None and (place := _given(move.spot)) is not None:
            name = _known_above(meeting.frame, whole)
        if name is None or not isinstance(move.spot.node, ast.Call):
            continue
        wanted = _wanted(part, side, devices)
        if differ(side.tensor.device, wanted) is False:
            continue
        told = _of_part(name, whole, part, meeting)
        owner = _owner(place.node) if place is not None else ""
        known = told.replace(name, owner, 1) if owner else told
        handed = _handed(move.spot, meeting) if place is None else None
        spot, meets = handed or (place or move.spot, meeting.spot)
        return Suspect(
            "input-on-wrong-shard",
            said_as(spot.node if handed else side.node),
            spot,
            side.tensor.device,
            wanted,
            (known,),
            side.tensor.steps,
            meets,
        )
    return None


def _is_split(module: Module) -> bool:
    """Whether parts of a module are on different accelerators."""
    places = {one.device for one in module.family() if one.device is not None}
    return len({place for place in places if place.type == DeviceType.CUDA}) > 1


def _made_there(tensor: Tensor) -> Step | None:
    """The call of a factory that is told the device of a tensor."""
    made = born_at(tensor.steps)
    return made if made is not None and device_argument(made.spot) is not None else None


def _gives_several(move: Spot, frame: Frame) -> bool:
    """Whether a move is that of each of several values, which a call is given one by one."""
    names = {one.id for one in frame.given.values() if isinstance(one, ast.Name)}
    match statement_around(move):
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if value is not move.node:
            own = {one.id for one in targets if isinstance(one, ast.Name)}
            return not isinstance(value, ast.Tuple) and len(own & names) > 1
    return False


def _is_on_its_way(move: Step, meeting: Meeting) -> bool:
    """Whether a move stands in the function that calls the part: it was chosen for that."""
    return move.spot.is_beside(meeting.spot) and (meeting.spot.function or "").endswith(".forward")


#: What is asked of a tensor wherever it is.
_ANYWHERE = frozenset({"shape", "ndim", "dtype", "size", "dim", "numel"})

#: What brings a tensor somewhere by itself.
_MOVES = frozenset({"to", "cuda", "cpu"})


def _handed(move: Spot, meeting: Meeting) -> tuple[Spot, Spot] | None:
    """What a call hands on of a variable that was moved, and the call, where the function computes with
    the variable besides, as it is: that meets the rest where it is."""
    function = move.enclosing
    call = next((one for one in meeting.calls if one.is_beside(move)), None)
    if function is None or call is None or not isinstance(call.node, ast.Call):
        return None
    held = (one.target for one in bindings(function) if one.value is move.node)
    name = next((one.id for one in held if isinstance(one, ast.Name)), None)
    if name is None:
        return None
    given = arguments(call.node)
    handed = [one for one in given if reads(one, name)]
    asked = (one for one in nodes(function, ast.Attribute) if one.attr in _ANYWHERE | _MOVES)
    elsewhere = [call.node, move.node, *(one.value for one in asked)]
    others = (
        one
        for one in loads(function, name)
        if one.lineno > move.line and not any(holds(part, one) for part in elsewhere)
    )
    return (call._replace(node=handed[0]), call) if len(handed) == 1 and any(others) else None


def _given(move: Spot) -> Spot | None:
    """Where a device is chosen that an object is given, which moves by it and knows no model."""
    node = move.node
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return None
    given = node.args[0]
    own = isinstance(given, ast.Attribute) and dotted(given.value) == "self"
    return set_at(move._replace(node=given)) if own else None


def _known_above(frame: Frame | None, whole: Module) -> str | None:
    """What the outermost call that leads to a meeting calls a model."""
    known = [name for one in frames(frame) for name in islice(models_in(one, whole), 1)]
    return known[-1] if known else None


def _wanted(part: Meets, side: Meets, devices: Sequence[str]) -> Device | None:
    """Where the part is: by its weights, else that of the two devices which is not the input's."""
    if differ(part.tensor.device, side.tensor.device):
        return part.tensor.device
    numbers = [one.partition(":")[2] for one in devices]
    own = side.tensor.device.number if side.tensor.device is not None else None
    others = [int(one) for one in numbers if one.isdecimal() and int(one) != own]
    return Device(DeviceType.CUDA, others[0]) if len(others) == 1 else part.tensor.device


def _of_part(name: str, whole: Module, part: Meets, meeting: Meeting) -> str:
    """The device of the part that is entered, asked of the whole model by a name."""
    module = part.tensor.module
    for attribute, value in whole.plain.items():
        told = value.device if isinstance(value, Place) else None
        if told is not None and differ(told, part.tensor.device) is False:
            return f"{name}.{attribute}"
    node = part.node
    own = isinstance(node, ast.Attribute) and dotted(node.value) == "self"
    if meeting.frame.this is whole and isinstance(node, ast.Attribute) and own:
        return f"next({name}.{node.attr}.parameters()).device"
    if whole.kind.startswith("transformers."):
        return f"{name}.get_input_embeddings().weight.device"
    path = _path(whole, module) if module is not None else None
    return f"next({name}{path or ''}.parameters()).device"


def _path(whole: Module, part: Module) -> str | None:
    """The attributes by which a module has a part; None for one that has no such name."""
    if whole is part:
        return ""
    for name, child in whole.children.items():
        inner = _path(child, part) if child is not whole else None
        if inner is not None and name.isidentifier():
            return f".{name}{inner}"
    return None


def _asked(move: Spot) -> Spot | None:
    """Where the device of a move was asked of a model's first or last weights, by what a variable or a
    function's result is set to; None where it was not."""
    node, tree = move.node, move.source.tree
    given = node.args[:1] if isinstance(node, ast.Call) else []
    values: list[ast.expr | None] = []
    match given:
        case [ast.Name() | ast.Attribute(value=ast.Name(id="self")) as named]:
            values = [one.value for one in bound(tree, dotted(named) or "")]
        case [ast.Call(func=ast.Name(id=name))]:
            named_so = (one for one in nodes(tree, ast.FunctionDef) if one.name == name)
            values = [value for one in named_so for value in returned(one)]
    found = [one for one in values if one is not None]
    if len(found) != 1 or not _owner(found[0]):
        return None
    return move._replace(node=found[0])


def _owner(asked: ast.AST) -> str:
    """The model whose weights are asked: ``self.model`` of ``next(self.model.head.parameters())``."""
    for one in calls(asked, "parameters"):
        if isinstance(one.func, ast.Attribute):
            parts = ast.unparse(one.func.value).split(".")
            return ".".join(parts[: 2 if parts[0] == "self" else 1])
    return ""
