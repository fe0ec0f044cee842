"""Inputs of a model: what a script makes and hands over, and the expression by which it does."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.availability import frames, handed_on, has_device, is_prepared
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, born_at, last_move, on_cpu
from diagnose.placement.semantics import arguments, called, loads, names, nodes
from diagnose.placement.tensors import Module, Tensor, tensors_in
from diagnose.placement.values import Frame, Loader, Object, Unknown

#: Factories that make all numbers of a tensor one.
_OF_ONE_NUMBER = frozenset({"zeros", "ones", "full"})


def is_input(asked: Question) -> bool:
    """A tensor that a script makes outside of any module and hands to one."""
    stray, meeting = asked.stray, asked.meeting
    if any(isinstance(one.this, Module) for one in frames(asked.tensor.frame)):
        return False
    called_on = meeting.what == ConstraintKind.CALL or _is_method_of(meeting.sides[0], meeting)
    if called_on and not (meeting.spot.function or "").endswith(".forward"):
        return True
    # Within the module it is what was handed over, and no constant that stands around it.
    root = next(iter(names(stray.node)), None)
    inside = isinstance(meeting.frame.this, Module)
    return inside and root is not None and root != "self" and root in meeting.frame.names


def _is_method_of(side: Meets, meeting: Meeting) -> bool:
    """Whether a library's method is called of what was moved to an accelerator, as a model is."""
    called_by = meeting.spot.node.func if isinstance(meeting.spot.node, ast.Call) else None
    own = isinstance(called_by, ast.Attribute) and called_by.value is side.node
    move = last_move(side.tensor.steps)
    there = move is not None and is_gpu(move.device)
    return meeting.what == ConstraintKind.LIBRARY and own and there


def is_target(made: Step, meeting: Meeting) -> bool:
    """Whether a factory makes all numbers one, for a loss to bring what a model gives to them: that is no
    input."""
    made_as = called(made.spot.node)
    outputs = any(side.tensor.maker in (Origin.OUTPUT, Origin.COMPUTED) for side in meeting.sides)
    weights = any(side.tensor.maker == Origin.WEIGHT for side in meeting.sides)
    loss = meeting.what == ConstraintKind.CALL and not weights
    return loss and outputs and made_as in _OF_ONE_NUMBER


def shaped_as_another(made: Step, frame: Frame | None) -> bool:
    """Whether a factory makes a tensor in the shape of another that is not on the cpu: its companion."""
    if frame is None:
        return False
    for node in nodes(made.spot.node, ast.Attribute, ast.Call):
        match node:
            case (
                ast.Attribute(value=ast.Name(id=name), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"))
            ):
                other = frame.get(name)
                if isinstance(other, Tensor) and other.device is not None and not on_cpu(other):
                    return True
    return False


def handed_over(asked: Question) -> tuple[Spot, Frame]:
    """Where an input is handed to the model, and the variables there: the argument of that call, wherever
    it failed."""
    stray, meeting = asked.stray, asked.meeting
    if (meeting.spot.function or "").endswith(".forward"):
        for call in reversed(meeting.calls):
            if (call.function or "").endswith(".forward") or not isinstance(call.node, ast.Call):
                continue
            given = arguments(call.node)
            caller = _caller(meeting.frame, call)
            node = given[0] if len(given) == 1 else _given_by(call, stray.node, meeting.frame)
            node = _made_in(node, caller) if node is not None else call.node
            return call._replace(node=node), caller or meeting.frame
    return asked.use, meeting.frame


def prepared_beside(asked: Question) -> Reason | None:
    """Where a library prepares another loader of the same variables, or the model that they are for: this
    one was forgotten there."""
    made = asked.creation
    for frame in frames(asked.meeting.frame):
        loaders = [(name, one) for name, one in frame.names.items() if isinstance(one, Loader)]
        moves = [
            [step.spot for step in _steps(one) if step.what == EventKind.MOVED]
            for _, one in loaders
        ]
        pairs = list(zip(loaders, moves, strict=True))
        ours = [name for (name, one), moved in pairs if not moved and made in _steps(one)]
        models = (last_move(one.steps) for one in frame.names.values() if isinstance(one, Module))
        moves.append([move.spot for move in models if move is not None and is_prepared(move.spot)])
        calls = [spot for each in moves for spot in each if spot.function == frame.function]
        if len(ours) == 1 and calls and frame.lines.get(ours[0], 0) <= calls[-1].line:
            return Reason("input-not-moved", calls[-1], frame, owner=ours[0], beside=calls[-1])
    return None


def _steps(loader: Loader) -> list[Step]:
    """What happened to the tensors of a loader's batches; a data set has none."""
    batches = (one for one in tensors_in(loader.item) if one.maker == Origin.BATCH)
    return [step for tensor in batches for step in tensor.steps]


def drawn_from_owner(asked: Question) -> Reason | None:
    """Where an object that knows no device gives what it keeps, to be handed to a model."""
    frame, meeting = asked.tensor.frame, asked.meeting
    if asked.first(EventKind.STORED) is None or frame is None:
        return None
    if not isinstance(frame.this, Object) or has_device(frame, asked.creation.spot):
        return None
    if frame.this is meeting.frame.this or not has_device(meeting.frame, meeting.spot):
        return None
    return Reason("input-not-moved", *handed_over(asked))


def given_to_owner(asked: Question) -> Reason | None:
    """Where an object is made that computes what it keeps of something that is used elsewhere, too."""
    owner, made = asked.meeting.frame.this, asked.creation
    built = born_at(owner.steps) if isinstance(owner, Object) else None
    if owner is None or built is None or owner.frame is None:
        return None
    if asked.first(EventKind.STORED) is None:
        return None
    given = built.spot.node.args if isinstance(built.spot.node, ast.Call) else []
    tree, frame = built.spot.source.tree, owner.frame
    for node in (one for one in given if isinstance(one, ast.Name)):
        value = frame.names.get(node.id)
        if value is None or not any(made in one.steps for one in tensors_in(value)):
            continue
        if len(loads(tree, node.id)) > 1 and has_device(frame, built.spot):
            return Reason("created-without-device", built.spot._replace(node=node), frame)
    return None


def taken_by(asked: Question) -> Reason | None:
    """Where a function that knows a device takes an input as its parameter, and hands it to the model."""
    made, meeting = asked.creation, asked.meeting
    node, spot, frame = handed_on(asked.stray.node, meeting.spot, meeting.frame, _is_of_module)
    made_in = asked.tensor.frame
    if _is_kept(node, frame) and made_in is not None and not has_device(made_in, made.spot):
        given = (frame.names.get(name) for name in frame.lines if frame.lines[name] == 0)
        if any(isinstance(one, Module) and one is not frame.this for one in given):
            return Reason("input-not-moved", spot._replace(node=node), frame)
    own = isinstance(node, ast.Name) and node.id in frame.given and node.id not in frame.bound
    if not own or frame.function == made.spot.function or isinstance(frame.this, Module):
        return None
    if not has_device(frame, spot, moved=False):
        return None
    return Reason("input-not-moved", spot._replace(node=node), frame)


def _is_of_module(frame: Frame, _: str) -> bool:
    return isinstance(frame.this, Module)


def _is_kept(node: ast.AST, frame: Frame) -> bool:
    """Whether an expression is what the object keeps whose method this is."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) if isinstance(frame.this, Object):
            return frame.names.get(name) is frame.this
    return False


def unknown_input(asked: Question) -> Reason | None:
    """What a model on an accelerator is called with, where a call gave it of which nothing is known."""
    stray, meeting = asked.stray, asked.meeting
    node, frame = stray.node, meeting.frame
    first = meeting.sides[0].tensor
    if (
        meeting.what != ConstraintKind.CALL
        or first.maker != Origin.WEIGHT
        or not isinstance(node, ast.Name)
    ):
        return None
    value = _made_in(node, frame)
    if first.device is None or on_cpu(first) or isinstance(frame.this, Module):
        return None
    if not isinstance(value, ast.Call) or not isinstance(stray.value, Unknown):
        return None
    return Reason("input-not-moved", meeting.spot._replace(node=value), frame)


def _caller(frame: Frame, call: Spot) -> Frame | None:
    """The variables around a call on the way to a frame."""
    called = (one for one in frames(frame) if one.call is not None and one.call.node is call.node)
    return next((one.caller for one in called), None)


def _given_by(call: Spot, node: ast.AST, frame: Frame) -> ast.expr | None:
    """The attribute of something that a call gives for a parameter, which a module is handed in turn; None
    where that is a name, as whatever binds it is to be looked at."""
    around: Frame | None = frame
    while around is not None and around.call is not None and isinstance(node, ast.Name):
        if node.id not in around.given or around.lines.get(node.id) != 0:
            return None
        node = around.given[node.id]
        if around.call.node is call.node:
            return node if isinstance(node, ast.Attribute) else None
        around = around.caller
    return None


def _made_in(node: ast.expr, frame: Frame | None) -> ast.expr:
    """The expression whose value a name was given by a statement; others as they are."""
    if frame is None or not isinstance(node, ast.Name):
        return node
    statement = frame.bound.get(node.id)
    alone = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    return statement.value if isinstance(statement, ast.Assign) and alone else node
