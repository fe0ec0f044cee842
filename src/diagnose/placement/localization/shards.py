"""Parts of a model on different accelerators: where what one gives meets the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.devices import differ
from diagnose.placement.localization.availability import frame_at, handed_on, statement_around
from diagnose.placement.localization.device_expressions import begins_as_number, in_scope
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.provenance import born_at, first_of, has, last_move, said_as
from diagnose.placement.semantics import around, loads, nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Object

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
        move = last_move(side.tensor.steps)
        moved = move is not None and isinstance(move.spot.node, ast.Call)
        place = spot
        if moved and move is not None and beside is None and not _is_of_several(move.spot):
            place = _chosen(move)
        entered = cause == "input-on-wrong-shard"
        devices = (
            _elsewhere(place, first, frame) if entered else _devices(first, meeting, spot, frame)
        )
        return Suspect(
            cause,
            said_as(node),
            place if entered else spot._replace(node=node),
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


def told_at(move: Step, of: Spot, tensor: Tensor, meeting: Meeting) -> tuple[Spot, Frame | None]:
    """Where the device of a move to a GPU is wrong: where it is written down (``of``), else, if it is that
    of a part or one of several that an expression makes one by one, where it is taken."""
    if _is_by_part(move, meeting):
        return move.spot, meeting.frame
    if _is_of_several(of):
        return move.spot, tensor.frame
    known = tensor.frame is not None and of.function == tensor.frame.function
    return of, tensor.frame if known else None


def _is_by_part(move: Step, meeting: Meeting) -> bool:
    """Whether a move in the function that failed goes to a device that a model remembers: of a split one,
    that of a part."""
    frame, node = meeting.frame, move.spot.node
    given = node.args[:1] if isinstance(node, ast.Call) else []
    match given if move.spot.function == meeting.spot.function else []:
        case [ast.Attribute(value=ast.Name(id=name))]:
            return isinstance(frame.names.get(name), Module) and name != "self"
        case [ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name))]:
            held = frame.this.attributes if isinstance(frame.this, Object) else {}
            return isinstance(held.get(name), Module)
    return False


def sent(
    stray: Meets, other: Meets | None, meeting: Meeting
) -> tuple[Spot, tuple[str, ...]] | None:
    """The move that brought what no part gives to another part's device, and expressions for the one that
    is wanted; None where none is known there."""
    move = last_move(stray.tensor.steps)
    if move is None or other is None or stray.tensor.maker in COMPUTED or _is_of_several(move.spot):
        return None
    if _is_read_again(move.spot):
        return None
    devices = tuple(_elsewhere(move.spot, other, meeting.frame))
    return (move.spot, devices) if devices and isinstance(move.spot.node, ast.Call) else None


def _is_read_again(move: Spot) -> bool:
    """Whether a function reads the variable that a move gives its result to in two places: one of them may
    want it where it goes."""
    match statement_around(move):
        case ast.Assign(targets=[ast.Name(id=name)]):
            read = loads(move.enclosing or move.source.tree, name)
            return sum(one.lineno > move.line for one in read) > 1
    return False


def _devices(other: Meets, meeting: Meeting, spot: Spot, frame: Frame) -> Iterator[str]:
    """Expressions for the device of the other operand, where one is to be moved."""
    if frame is meeting.frame and isinstance(other.node, ast.Name | ast.Attribute):
        name = ast.unparse(other.node)
        module = isinstance(other.value, Module)
        if module or not begins_as_number(name, frame):
            yield f"next({name}.parameters()).device" if module else f"{name}.device"
    yield from in_scope(frame, spot, other.tensor.device)


def _elsewhere(place: Spot, other: Meets, frame: Frame | None) -> Iterator[str]:
    """Expressions for the device of a part, where another was chosen for its input on the way there."""
    if (there := frame_at(place, frame)) is not None:
        yield from in_scope(there, place, other.tensor.device)


def _chosen(move: Step) -> Spot:
    """Where the device of a move is chosen: by the literal that a function is given which moves."""
    said = move.spot.node.args[:1] if isinstance(move.spot.node, ast.Call) else []
    names = {one.id for one in said if isinstance(one, ast.Name)}
    given = move.of is not None and move.of.function != move.spot.function
    if not names or not given or move.of is None or _is_bound(names, move.of):
        return move.spot
    return move.of


def _is_bound(names: set[str], of: Spot) -> bool:
    """Whether a literal is what a statement gives a variable of the file: others are moved by it, too."""
    return any(
        target.id in names
        for statement in of.source.tree.body
        if isinstance(statement, ast.Assign)
        for target in nodes(statement, ast.Name)
    )


def _is_of_several(move: Spot) -> bool:
    """Whether a move is that of several values, one by one."""
    several = around(move.source.tree, move.node, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    return any(several)


def gathered(meeting: Meeting, *, sure: bool = False) -> Suspect | None:
    """A part of a model that the program had put elsewhere, and a trainer brought to the device of all.

    ``sure`` takes only what meets an operand that is still sent to where the part was, by a number that is
    not the first GPU's.
    """
    for side in meeting.sides:
        steps = side.tensor.steps
        if side.tensor.maker != Origin.WEIGHT or not has(steps, EventKind.GATHERED):
            continue
        put = first_of(steps, EventKind.MOVED)
        if sure and (put is None or not put.device or not put.device.number):
            continue
        if sure and all(other.tensor.device != put.device for other in meeting.sides if put):
            continue
        whole = _made_by(side.tensor.module, (put.spot.function or "") if put else "")
        born = born_at(whole.steps) if whole is not None else None
        if put is not None and born is not None:
            cause, here = "device-map-under-training", side.tensor.device
            name = said_as(side.node)
            return Suspect(cause, name, born.spot, here, put.device, (), steps, meeting.spot)
    return None


def _made_by(module: Module | None, function: str) -> Module | None:
    """The module by whose method a part of it was moved."""
    owners = module.owners() if module is not None else ()
    made = (one for one in owners if one.made is not None)
    return next((one for one in made if function.startswith(f"{one.kind}.")), None)


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
