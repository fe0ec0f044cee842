"""Parts of a model on different accelerators: where what one gives meets the other, and the line that
brought something to another part than it enters.

A program may spread parts by hand, as its text tells: some of them may be of classes of which nothing
is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from diagnose.kinds import ConstraintKind, DeviceType, Origin
from diagnose.placement.devices import differ
from diagnose.placement.localization.availability import (
    frame_at,
    handed_on,
    statement_around,
)
from diagnose.placement.localization.device_expressions import begins_as_number, in_scope, models_in
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.provenance import (
    born_at,
    device_argument,
    last_move,
    said_as,
)
from diagnose.placement.semantics import (
    around,
    called,
    calls,
    dotted,
    names,
    nodes,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame

#: Makers of what a model computes, or is.
COMPUTED = frozenset({Origin.OUTPUT, Origin.WEIGHT, Origin.COMPUTED})


def crossing(meeting: Meeting) -> Suspect | None:
    """Two parts of a split model that meet: the input of a part that is elsewhere, or two outputs."""
    first = meeting.sides[0]
    for side in meeting.sides[1:]:
        if side.node is first.node and _is_its_own(side, first, meeting):
            continue
        places = (first.tensor.device, side.tensor.device)
        if not differ(*places) or any(place and place.type != DeviceType.CUDA for place in places):
            continue
        beside = _moved_beside(side, first.tensor.device, meeting)
        if side.tensor.maker in COMPUTED and first.tensor.maker in COMPUTED:
            cause = "cross-shard-op"
        elif meeting.what == ConstraintKind.CALL and first.tensor.maker == Origin.WEIGHT:
            cause = "cross-shard-op" if beside is not None else "input-on-wrong-shard"
        else:
            continue
        node, spot, frame = _entered(side, meeting)
        if cause == "input-on-wrong-shard":
            move = last_move(side.tensor.steps)
            place = move.spot if move is not None and not _is_of_several(move.spot) else spot
            place = place if isinstance(place.node, ast.Call) else spot
            devices = _elsewhere(place, first, frame)
        else:
            place, devices = spot._replace(node=node), _devices(first, meeting, spot, frame)
        return Suspect(
            cause,
            said_as(node),
            place,
            side.tensor.device,
            first.tensor.device,
            tuple(devices),
            side.tensor.steps,
            spot,
            beside=beside,
        )
    return None


def _is_its_own(side: Meets, first: Meets, meeting: Meeting) -> bool:
    """Whether what one expression gives is parts of one model, whose own forward takes what it is given
    from one to the other, or is handed to a function that may take each where it is."""
    weights = side.tensor.maker == first.tensor.maker == Origin.WEIGHT
    return meeting.what == ConstraintKind.LIBRARY or (
        weights and meeting.what == ConstraintKind.CALL
    )


def _devices(other: Meets, meeting: Meeting, spot: Spot, frame: Frame) -> Iterator[str]:
    """Expressions for the device of the other operand, where one is to be moved."""
    if frame is meeting.frame and isinstance(other.node, ast.Name | ast.Attribute):
        name, module = ast.unparse(other.node), isinstance(other.value, Module)
        if module or not begins_as_number(name, frame):
            yield f"next({name}.parameters()).device" if module else f"{name}.device"
    yield from in_scope(frame, spot, other.tensor.device)


def _elsewhere(place: Spot, other: Meets, frame: Frame | None) -> Iterator[str]:
    """Expressions for the device of a part, where another was chosen for its input on the way there."""
    if (there := frame_at(place, frame)) is not None:
        yield from in_scope(there, place, other.tensor.device)


def _is_of_several(move: Spot) -> bool:
    """Whether a move is that of several values, one by one."""
    several = around(move.source.tree, move.node, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    return any(several)


def _entered(side: Meets, meeting: Meeting) -> tuple[ast.AST, Spot, Frame]:
    """An operand, the call that it stands in, and the variables there: where it enters the part that is
    elsewhere."""
    node = side.node if isinstance(side.node, ast.expr) else meeting.spot.node
    return handed_on(node, meeting.spot, meeting.frame, _on_one_device)


def _on_one_device(frame: Frame, _: str) -> bool:
    """Whether the module that a method is of has all of its weights on one device."""
    if not isinstance(frame.this, Module):
        return False
    where = {one.device for one in frame.this.family() if one.weights}
    where |= {one.device for part in frame.this.family() for one in part.tensors.values()}
    return len(where) == 1


def _moved_beside(side: Meets, wanted: Device | None, meeting: Meeting) -> Spot | None:
    """The statement of the same function that moved another operand to where both are wanted."""
    for other in meeting.sides:
        move = last_move(other.tensor.steps)
        if other is side or move is None or differ(move.device, wanted) is not False:
            continue
        if move.spot.is_above(meeting.spot) and other.tensor.maker != Origin.WEIGHT:
            return move.spot
    return None


_INPUTS = frozenset({Origin.BATCH, Origin.FACTORY, Origin.ARRAY, Origin.TOKENS})


def brought(meeting: Meeting) -> Suspect | None:
    """The move that brought an input to another GPU than the part of a model that is called with it, by a
    function that has the whole model at hand.

    Args:
        meeting: a call of a part, or an operation with a weight or buffer of it.
    """
    part = meeting.sides[0]
    entered = meeting.what in (ConstraintKind.CALL, ConstraintKind.JOIN)
    if not entered or part.tensor.maker != Origin.WEIGHT or part.tensor.module is None:
        return None
    whole, wanted = part.tensor.module.whole(), part.tensor.device
    if not _is_split(whole):
        return None
    for side in meeting.sides[1:]:
        move = last_move(side.tensor.steps) or _made_there(side.tensor)
        if side.tensor.maker not in _INPUTS or move is None or _is_on_its_way(move, meeting):
            continue
        if _gives_several(move.spot, meeting.frame):
            continue  # the others may enter another part
        frame = frame_at(move.spot, meeting.frame)
        name = next(models_in(frame, whole), None) if frame is not None else None
        if name is None or not differ(side.tensor.device, wanted):
            continue
        return Suspect(
            "input-on-wrong-shard",
            said_as(side.node),
            move.spot,
            side.tensor.device,
            wanted,
            (_of_part(name, whole, part, meeting),),
            side.tensor.steps,
            meeting.spot,
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


def _of_part(name: str, whole: Module, part: Meets, meeting: Meeting) -> str:
    """The device of the part that is entered, asked of the whole model by a name."""
    node = part.node
    own = isinstance(node, ast.Attribute) and dotted(node.value) == "self"
    if meeting.frame.this is whole and isinstance(node, ast.Attribute) and own:
        name = f"{name}.{node.attr}"
    return f"next({name}.parameters()).device"


#: What devices are called that a loop goes through.
_DEVICES = re.compile(r"device|gpu|card", re.IGNORECASE)


@lru_cache(maxsize=8)
def spreads_by_hand(tree: ast.AST) -> bool:
    """Whether a class makes parts of its own in ``__init__``, and sends them to devices of different names:
    ``Encoder(cfg).to(first)`` and ``Decoder(cfg).to(second)``; or one to each of several devices that it
    is given: ``Stage(layers, d) for d in devices``.

    Args:
        tree: of a file.
    """
    return any(
        len(set(_devices_named(node))) > 1 or _one_by_one(node)
        for kind in nodes(tree, ast.ClassDef)
        for node in kind.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )


def _one_by_one(function: ast.FunctionDef) -> bool:
    """Whether a loop over devices sends what it makes to each, or tells each the part that it makes."""
    for loop in nodes(function, ast.For, ast.ListComp, ast.GeneratorExp):
        match loop:
            case ast.For(target=target, iter=given):
                inside: list[ast.AST] = [*loop.body]
            case (ast.ListComp() | ast.GeneratorExp()) as listed if len(listed.generators) == 1:
                target, given = listed.generators[0].target, listed.generators[0].iter
                inside = [listed.elt]
            case _:
                continue
        if not _DEVICES.search(ast.unparse(given)):
            continue
        each = names(target)
        for call in (one for part in inside for one in calls(part)):
            name = called(call)
            told = [one for one in call.args if isinstance(one, ast.Name) and one.id in each]
            # What is told a device alone is made for each, like the others.
            alone = len(call.args) + len(call.keywords) == 1
            if told and (name == "to" or (name[:1].isupper() and not alone)):
                return True
    return False


def _devices_named(function: ast.FunctionDef) -> Iterator[str]:
    """The devices, other than the cpu, that what a function makes is sent to, as it writes them."""
    for node in calls(function, "to"):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made), args=[device]):
                kind = called(made)
                told = ast.unparse(device).removeprefix("self.")
                if kind[:1].isupper() and "cpu" not in told and "dtype" not in told:
                    yield told
