"""Inputs of a model: what a script makes and hands over, and the expression by which it does."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.passing import moved_in, moves_from, taken_from
from diagnose.placement.reasons.knowing import (
    handed_on,
    has_device,
    is_prepared,
    statement_around,
)
from diagnose.placement.reasons.surroundings import classes_of, function_of
from diagnose.placement.steps import Reason, born_at, called, device_argument, last_move, on_cpu
from diagnose.placement.tensors import Module, Tensor, tensors_in
from diagnose.placement.values import Frame, Loader, Object, Unknown

#: Factories that make all numbers of a tensor one.
_OF_ONE_NUMBER = frozenset({"zeros", "ones", "full"})


def is_input(stray: Meets, tensor: Tensor, meeting: Meeting) -> bool:
    """A tensor that a script makes outside of any module and hands to one."""
    frame = tensor.frame
    while frame is not None:
        if isinstance(frame.this, Module):
            return False
        frame = frame.caller
    called_on = meeting.what == "call" or _is_method_of(meeting.sides[0], meeting)
    if called_on and not (meeting.spot.function or "").endswith(".forward"):
        return True
    # Within the module it is what was handed over, and no constant that stands around it.
    root = next((n.id for n in ast.walk(stray.node) if isinstance(n, ast.Name)), None)
    inside = isinstance(meeting.frame.this, Module)
    return inside and root is not None and root != "self" and root in meeting.frame.names


def _is_method_of(side: Meets, meeting: Meeting) -> bool:
    """Whether a library's method is called of what was moved to an accelerator, as a model is."""
    called_by = meeting.spot.node.func if isinstance(meeting.spot.node, ast.Call) else None
    own = isinstance(called_by, ast.Attribute) and called_by.value is side.node
    move = last_move(side.tensor.steps)
    there = move is not None and move.device is not None and move.device.type == "cuda"
    return meeting.what == "library" and own and there


def is_target(made: Step, meeting: Meeting) -> bool:
    """Whether a factory makes all numbers one, for a loss to bring what a model gives to them: that is no
    input."""
    made_as = called(made.spot.node)
    outputs = any(side.tensor.maker in ("output", "computed") for side in meeting.sides)
    weights = any(side.tensor.maker == "weight" for side in meeting.sides)
    loss = meeting.what == "call" and not weights
    return loss and outputs and made_as in _OF_ONE_NUMBER


def is_forgotten_beside(made: Step) -> bool:
    """Whether a factory leaves out the device that another one of the same function, or of the other
    methods of its class, is given."""
    function = function_of(made.spot)
    owner = (made.spot.function or "").rpartition(".")[0]
    around = [*classes_of(made.spot.source.tree).get(owner, ()), *([function] if function else [])]
    return any(_makes_on_device(one) for one in around)


@lru_cache(maxsize=8)
def _makes_on_device(scope: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether torch makes a tensor on a device that a variable holds."""
    return any(
        isinstance(one, ast.Call)
        and ast.unparse(one.func).startswith("torch.")
        and any(
            given.arg == "device" and not isinstance(given.value, ast.Constant)
            for given in one.keywords
        )
        for one in ast.walk(scope)
    )


def shaped_as_another(made: Step, frame: Frame | None) -> bool:
    """Whether a factory makes a tensor in the shape of another that is not on the cpu: its companion."""
    if frame is None:
        return False
    for node in ast.walk(made.spot.node):
        match node:
            case (
                ast.Attribute(value=ast.Name(id=name), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"))
            ):
                other = frame.get(name)
                if isinstance(other, Tensor) and other.device is not None and not on_cpu(other):
                    return True
    return False


def handed_over(stray: Meets, meeting: Meeting) -> tuple[Spot, Frame]:
    """Where an input is handed to the model, and the variables there: the argument of that call, wherever
    it failed."""
    if (meeting.spot.function or "").endswith(".forward"):
        for call in reversed(meeting.calls):
            if (call.function or "").endswith(".forward") or not isinstance(call.node, ast.Call):
                continue
            given = [*call.node.args, *(one.value for one in call.node.keywords)]
            caller = _caller(meeting.frame, call)
            node = given[0] if len(given) == 1 else _given_by(call, stray.node, meeting.frame)
            node = _made_in(node, caller) if node is not None else call.node
            return call._replace(node=node), caller or meeting.frame
    return meeting.spot._replace(node=stray.node), meeting.frame


def prepared_beside(made: Step, meeting: Meeting) -> Reason | None:
    """Where a library prepares another loader of the same variables, or the model that they are for: this
    one was forgotten there."""
    frame: Frame | None = meeting.frame
    while frame is not None:
        loaders = [(name, one) for name, one in frame.names.items() if isinstance(one, Loader)]
        moves = [[step.spot for step in _steps(one) if step.what == "moved"] for _, one in loaders]
        pairs = list(zip(loaders, moves, strict=True))
        ours = [name for (name, one), moved in pairs if not moved and made in _steps(one)]
        models = (last_move(one.steps) for one in frame.names.values() if isinstance(one, Module))
        moves.append([move.spot for move in models if move is not None and is_prepared(move.spot)])
        calls = [spot for each in moves for spot in each if spot.function == frame.function]
        if len(ours) == 1 and calls and frame.lines.get(ours[0], 0) <= calls[-1].line:
            return Reason("input-not-moved", calls[-1], frame, owner=ours[0], beside=calls[-1])
        frame = frame.caller
    return None


def _steps(loader: Loader) -> list[Step]:
    """What happened to the tensors of a loader's batches; a data set has none."""
    batches = (one for one in tensors_in(loader.item) if one.maker == "batch")
    return [step for tensor in batches for step in tensor.steps]


def left_out(made: Step, frame: Frame | None) -> tuple[Spot, Frame] | None:
    """The call that leaves out the device for which a factory has a parameter; None where there is none."""
    said = device_argument(made.spot)
    if frame is None or frame.function != made.spot.function:
        return None
    spot = made.spot
    while isinstance(said, ast.Name) and frame.lines.get(said.id) == 0 and frame.call is not None:
        caller = frame.caller
        if caller is None or not isinstance(frame.call.node, ast.Call):
            return None
        spot, given, frame = frame.call, frame.given.get(said.id), caller
        if given is None:
            return spot, frame
        said = given
    return None


def bound_beside(stray: Meets, meeting: Meeting) -> Reason | None:
    """The statement that takes an input out of what others were taken out of, and moved, or in which the
    same rows of others are."""
    node, _, frame = handed_on(stray.node, meeting.spot, meeting.frame)
    taken = node if stray.tensor.maker != "load" else None  # that is loaded elsewhere
    value = _bound_to(node.id, frame) if isinstance(node, ast.Name) else taken
    root = taken_from(value) if isinstance(value, ast.expr) else None
    if not isinstance(value, ast.expr) or root is None:
        return None
    if frame.this is not None and frame.names.get(root) is frame.this:
        return None
    others = [one.value for one in frame.bound.values() if isinstance(one, ast.Assign)]
    if not any(_moves_beside(one, value, root) for one in others):
        return None
    spot = meeting.spot._replace(source=frame.source, node=value, function=frame.function)
    return Reason("input-not-moved", spot, frame)


def computed_last(stray: Meets, made: Step, meeting: Meeting) -> Reason | None:
    """Where the variable that is handed over is computed last, if what a factory made for it met others
    on the cpu as it was made: there it cannot be moved alone."""
    statement = statement_around(made.spot)
    if statement is None or not _meets_others(statement, made.spot.node):
        return None
    whole = stray.node
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    node, spot, frame = handed_on(whole, meeting.spot, meeting.frame)
    if not isinstance(node, ast.Name):
        return None
    value = _bound_to(node.id, frame) if node.id in frame.names else None
    if value is None and (last := _bound_by_file(node.id, frame.source.tree)) is not None:
        value, spot = last, spot._replace(function=None)
    if value is None or any(one is made.spot.node for one in ast.walk(value)):
        return None
    return Reason("input-not-moved", spot._replace(source=frame.source, node=value), frame)


def _meets_others(around: ast.AST, node: ast.AST) -> bool:
    """Whether a statement computes of a value and of something else that may be a tensor."""
    for one in ast.walk(around):
        sides: list[ast.expr] = []
        match one:
            case ast.BinOp(left=left, right=right):
                sides = [left, right]
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
        own = [each for each in sides if any(part is node for part in ast.walk(each))]
        if own and any(isinstance(each, ast.Call | ast.Name) for each in sides if each not in own):
            return True
    return False


def _bound_by_file(name: str, tree: ast.Module) -> ast.expr | None:
    """The expression that the only statement of a file itself gives a name that binds it."""
    found = [
        one.value
        for one in tree.body
        if isinstance(one, ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == name for target in one.targets)
    ]
    return found[0] if len(found) == 1 else None


def _bound_to(name: str, frame: Frame) -> ast.expr | None:
    """The expression that a statement gives a name, by itself or as one of several."""
    match frame.bound.get(name):
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            pairs = zip(names, values, strict=False)
            return next((v for n, v in pairs if isinstance(n, ast.Name) and n.id == name), None)
    return None


def _moves_beside(node: ast.expr, value: ast.expr, root: str) -> bool:
    """Whether an expression moves another part of what a value is taken from, or the same rows."""
    if moves_from(node, root):
        return True
    rows = value.slice if isinstance(value, ast.Subscript) else None
    if rows is None or not any(isinstance(one, ast.Name) for one in ast.walk(rows)):
        return False
    return any(
        isinstance(one, ast.Subscript) and ast.dump(one.slice) == ast.dump(rows)
        for one in moved_in(node)
    )


def drawn_from_owner(stray: Meets, made: Step, meeting: Meeting) -> Reason | None:
    """Where an object that knows no device gives what it keeps, to be handed to a model."""
    frame = stray.tensor.frame
    if frame is None or not isinstance(frame.this, Object) or has_device(frame, made.spot):
        return None
    if frame.this is meeting.frame.this or not has_device(meeting.frame, meeting.spot):
        return None
    return Reason("input-not-moved", *handed_over(stray, meeting))


def given_to_owner(stray: Meets, made: Step, meeting: Meeting) -> Reason | None:
    """Where an object is made that computes what it keeps of something that is used elsewhere, too."""
    owner = meeting.frame.this
    built = born_at(owner.steps) if isinstance(owner, Object) else None
    if owner is None or built is None or owner.frame is None:
        return None
    if not any(step.what == "stored" for step in stray.tensor.steps):
        return None
    given = built.spot.node.args if isinstance(built.spot.node, ast.Call) else []
    tree, frame = built.spot.source.tree, owner.frame
    for node in given:
        value = frame.names.get(node.id) if isinstance(node, ast.Name) else None
        if value is None or not any(made in one.steps for one in tensors_in(value)):
            continue
        uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == ast.unparse(node)]
        elsewhere = sum(isinstance(one.ctx, ast.Load) for one in uses) > 1
        if elsewhere and has_device(frame, built.spot):
            return Reason("created-without-device", built.spot._replace(node=node), frame)
    return None


def taken_by(stray: Meets, made: Step, meeting: Meeting) -> Reason | None:
    """Where a function that knows a device takes an input as its parameter, and hands it to the model."""
    node: ast.AST = stray.node
    spot, frame = meeting.spot, meeting.frame
    while isinstance(frame.this, Module) and isinstance(node, ast.Name) and node.id in frame.given:
        if frame.call is None or frame.caller is None:
            return None
        node, spot, frame = frame.given[node.id], frame.call, frame.caller
    made_in = stray.tensor.frame
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


def _is_kept(node: ast.AST, frame: Frame) -> bool:
    """Whether an expression is what the object keeps whose method this is."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) if isinstance(frame.this, Object):
            return frame.names.get(name) is frame.this
    return False


def unknown_input(stray: Meets, meeting: Meeting) -> Reason | None:
    """What a model on an accelerator is called with, where a call gave it of which nothing is known."""
    node, frame = stray.node, meeting.frame
    first = meeting.sides[0].tensor
    if meeting.what != "call" or first.maker != "weight" or not isinstance(node, ast.Name):
        return None
    value = _made_in(node, frame)
    if first.device is None or on_cpu(first) or isinstance(frame.this, Module):
        return None
    if not isinstance(value, ast.Call) or not isinstance(stray.value, Unknown):
        return None
    return Reason("input-not-moved", meeting.spot._replace(node=value), frame)


def _caller(frame: Frame, call: Spot) -> Frame | None:
    """The variables around a call on the way to a frame."""
    around: Frame | None = frame
    while around is not None and (around.call is None or around.call.node is not call.node):
        around = around.caller
    return around.caller if around is not None else None


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
