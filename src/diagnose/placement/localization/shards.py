"""Parts of a model on different accelerators: where what one gives meets the other, and the line that
brought something to another part than it enters.

A program may spread parts by hand, as its text tells: some of them may be of classes of which nothing
is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.control_dependence import set_at
from diagnose.placement.devices import differ
from diagnose.placement.localization.availability import (
    frame_at,
    frames,
    handed_on,
    statement_around,
)
from diagnose.placement.localization.device_expressions import begins_as_number, in_scope, models_in
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.provenance import (
    born_at,
    device_argument,
    first_of,
    has,
    last_move,
    said_as,
)
from diagnose.placement.semantics import (
    arguments,
    around,
    bindings,
    bound,
    called,
    calls,
    dotted,
    holds,
    loads,
    names,
    nodes,
    reads,
    returned,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Object, Place

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
