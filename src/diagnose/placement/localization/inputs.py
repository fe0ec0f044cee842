"""Inputs of a model: what a script makes and hands over, and the expression by which it does."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.device_patterns import moved_in
from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.availability import frames, is_prepared
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, last_move, on_cpu
from diagnose.placement.semantics import arguments, called, names, nodes
from diagnose.placement.tensors import Module, Tensor, tensors_in
from diagnose.placement.values import Frame, Loader

#: Factories that make all numbers of a tensor one.
_OF_ONE_NUMBER = frozenset({"zeros", "ones", "full"})

#: What a model gives, or is computed of it, or may be: what a function is given, and what comes of a batch.
_OF_MODELS = frozenset({Origin.OUTPUT, Origin.COMPUTED, Origin.BATCH, Origin.GIVEN})


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
    outputs = any(side.tensor.maker in _OF_MODELS for side in meeting.sides)
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


def moved_within(spot: Spot) -> Spot | None:
    """The statement of a loop that moves another of the values that the loop binds; None for no loop."""
    loop = spot.node
    if not isinstance(loop, ast.For):
        return None
    own = names(loop.target)
    for statement in loop.body:
        moved = moved_in(statement.value) if isinstance(statement, ast.Assign) else ()
        if any(isinstance(one, ast.Name) and one.id in own for one in moved):
            return spot._replace(node=statement)
    return None
