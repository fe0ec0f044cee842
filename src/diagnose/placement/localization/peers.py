"""Modules and inputs that are moved beside one that is not: there it was forgotten."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from diagnose.kinds import Origin
from diagnose.placement.localization.availability import (
    gives_what_it_builds,
    handed_on,
    has_device,
    held_by,
    held_in,
    is_prepared,
    is_rebound,
    is_statement,
    key_of,
    statement_around,
)
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Spot, Step
from diagnose.placement.pass_through import moved_in, moves_from, taken_from
from diagnose.placement.provenance import Reason, born_at, last_move, on_cpu
from diagnose.placement.semantics import Function, around, called, holds, names, nodes, parameters
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Object, Value


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


def name_in(frame: Frame | None, module: Module) -> str | None:
    """The variable of a call, or the attribute of its object, that holds a module."""
    return key_of(module, held_in(frame)) if frame is not None else None


def moved_beside(
    module: Module,
    frame: Frame | None,
    spot: Spot,
    after: int | None = None,
    *,
    bound: bool = False,
) -> Spot | None:
    """The statement that moves another module of the same variables, after this one was built; with
    ``bound`` also one that gives its result the same name."""
    if frame is None or module.owner is not None:
        return None
    found: list[Spot] = []
    for other in held_in(frame).values():
        if isinstance(other, Module) and other is not module and other.owner is None:
            move = last_move(other.steps)
            if move is None or move.spot.file != spot.file:
                continue
            if move.spot.function != spot.function:
                if is_prepared(move.spot) and _are_of(frame.this, (module, other)):
                    found.append(move.spot)
                continue
            first = spot.line if after is None else after
            if move.spot.line < first:
                continue
            if is_statement(move.spot) or (bound and is_rebound(move.spot)):
                found.append(_listing(move.spot) or move.spot)
    alone = [one for one in found if not is_prepared(one)]  # what is not trained is moved by hand
    return max(alone or found, key=lambda one: one.line, default=None)


def _listing(move: Spot) -> Spot | None:
    """The written list through which a loop runs that moves each of its items; None for other moves."""
    match move.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=moved))):
            pass
        case _:
            return None
    for node in around(move.source.tree, move.node, ast.For):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Tuple() | ast.List() as listed):
                if name == moved:
                    return move._replace(node=listed)
    return None


def returned_beside(cause: str, module: Module, frame: Frame | None) -> Reason | None:
    """The item of a tuple that a function returns in which another item is moved, where nothing else moves
    that: the module was forgotten there."""
    if frame is None or module.owner is not None or (name := key_of(module, frame.names)) is None:
        return None
    for returned in frame.returns:
        items = returned.value.elts if isinstance(returned.value, ast.Tuple) else []
        own = [one for one in items if _root(one) == name]
        others = (moved for one in items if one not in own for moved in moved_in(one))
        if len(own) == 1 and any(_root(one) in frame.names for one in others):
            return Reason(cause, Spot(frame.source, own[0], frame.function), frame)
    return None


def _root(node: ast.expr) -> str | None:
    """The variable on which an expression calls methods, one on the other."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else None


def _are_of(this: Value | None, modules: Sequence[Module]) -> bool:
    """Whether modules are attributes of an object: one of its methods can do to all what it does to one."""
    held = this.attributes.values() if isinstance(this, Object) else ()
    return all(any(one is each for one in held) for each in modules)


def moved_by_holder(cause: str, module: Module) -> Reason | None:
    """The last statement of the method of an object by which it moves other modules that it keeps, and
    leaves this one."""
    if module.kept is None or module.owner is not None:
        return None
    frame = module.kept[1]
    this = frame.this
    name = key_of(module, this.attributes) if isinstance(this, Object) else None
    if not isinstance(this, Object) or this.made is None or name is None:
        return None
    found: list[Spot] = []
    for other in this.attributes.values():
        move = last_move(other.steps) if isinstance(other, Module) and other is not module else None
        if move is not None and is_statement(move.spot) and _is_mover(move.spot, this):
            found.append(move.spot)
    last = max(found, key=lambda one: one.line, default=None)
    return Reason(cause, last, frame, owner=f"self.{name}") if last is not None else None


def kept_beside(cause: str, module: Module) -> Reason | None:
    """What a method keeps as it is given, where it moves and keeps another module: ``criterion`` of
    ``self.criterion = criterion``, below ``self.net = net.to(self.device)``."""
    if module.kept is None or module.owner is not None:
        return None
    spot, frame = module.kept
    kept = statement_around(spot)
    function = spot.enclosing
    if not isinstance(kept, ast.Assign) or not isinstance(kept.value, ast.Name) or function is None:
        return None
    given = {one.arg for one in parameters(function)}
    for node in nodes(function, ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"))],
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="to"),
                    args=[ast.Name() | ast.Attribute()],
                ),
            ) if {name, kept.value.id} <= given:
                return Reason(cause, spot._replace(node=kept.value), frame)
    return None


def forgotten_field(tensor: Tensor, node: ast.AST, frame: Frame) -> Reason | None:
    """The statement of the method of an object that moves another of its tensors, and leaves this one."""
    holder = held_by(node, frame)
    if not isinstance(holder, Object) or not isinstance(node, ast.Attribute) or not on_cpu(tensor):
        return None
    others = (one for name, one in holder.attributes.items() if name != node.attr)
    moves = (last_move(one.steps) for one in others if isinstance(one, Tensor))
    found = [
        move.spot._replace(node=statement)
        for move in moves
        if move is not None and _is_mover(move.spot, holder)
        if isinstance(statement := statement_around(move.spot), ast.Assign)
    ]
    first = min(found, key=lambda one: one.line, default=None)
    if first is None or last_move(tensor.steps) is not None:
        return None
    return Reason("unregistered-tensor", first, name=f"self.{node.attr}", beside=first)


def forgotten_variable(asked: Question) -> Reason | None:
    """The last statement that moves another variable of those which one call gave, ``x = x.to(device)``,
    and leaves this one."""
    node, spot = asked.stray.node, asked.meeting.spot
    if not isinstance(node, ast.Name) or not on_cpu(asked.tensor) or asked.move is not None:
        return None
    together, last = set[str](), None
    for one in _gifts_and_moves(spot.enclosing or spot.source.tree):
        match one:
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                bound = {name.id for name in names if isinstance(name, ast.Name)}
                if node.id in bound:
                    together, last = bound, None
            case ast.Assign(targets=[ast.Name(id=name)]) if one.lineno < spot.line:
                last = one if name in together - {node.id} else last
    if last is None:
        return None
    beside = spot._replace(node=last)
    return Reason("input-not-moved", beside, name=node.id, beside=beside)


@lru_cache(maxsize=8)
def _gifts_and_moves(scope: ast.Module | Function) -> Sequence[ast.Assign]:
    """The statements by which a call gives several variables, and those that move one, in their order."""
    found: list[ast.Assign] = []
    for one in scope.body:
        match one:
            case ast.Assign(targets=[ast.Tuple()], value=ast.Call()):
                found.append(one)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved), attr="to" | "cuda")),
            ) if name == moved:
                found.append(one)
    return found


def made_beside(weight: Tensor, module: Module) -> Step | None:
    """The factory by which a module's ``__init__`` makes a weight beside one that it was given, which had
    been moved; None for other weights."""
    made, frame = born_at(weight.steps), weight.frame
    if made is None or frame is None or frame.this is not module:
        return None
    start = (made.spot.function or "").endswith(".__init__")
    return made if start and last_move(module.steps) is None else None


def moved_by_others(cause: str, frame: Frame | None) -> Reason | None:
    """The call of the function that builds a module, where another caller moves what it is given by such a
    call: by this one it was forgotten."""
    if frame is None or frame.call is None or frame.caller is None:
        return None
    call, name = frame.call, called(frame.call.node)
    if not name or not gives_what_it_builds(frame) or not has_device(frame.caller, call):
        return None
    own = _names_bound(statement_around(call), name)
    for function in nodes(call.source.tree, ast.FunctionDef):
        if holds(function, call.node):
            continue
        moved = {one.id for one in moved_in(function) if isinstance(one, ast.Name)}
        for statement in nodes(function, ast.Assign):
            theirs = _names_bound(statement, name)
            for mine, other in zip(own, theirs, strict=False):
                if other in moved and len(own) == len(theirs):
                    return Reason(cause, call, frame.caller, name=mine)
    return None


def _names_bound(statement: ast.AST | None, name: str) -> list[str]:
    """The variables to which a statement gives what a call of a name returns."""
    if not isinstance(statement, ast.Assign) or called(statement.value) != name:
        return []
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one.id if isinstance(one, ast.Name) else "" for one in parts]


def _is_mover(spot: Spot, this: Object) -> bool:
    """Whether a place is in the method by which an object is moved as a module is."""
    names = [one.node.name for one in this.made.line()] if this.made is not None else []
    return spot.function in {f"{name}.{method}" for name in names for method in ("to", "cuda")}


def bound_beside(asked: Question) -> Reason | None:
    """The statement that takes an input out of what others were taken out of, and moved, or in which the
    same rows of others are."""
    stray, meeting = asked.stray, asked.meeting
    node, _, frame = handed_on(stray.node, meeting.spot, meeting.frame)
    taken = node if stray.tensor.maker != Origin.LOAD else None  # that is loaded elsewhere
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


def computed_last(asked: Question) -> Reason | None:
    """Where the variable that is handed over is computed last, if what a factory made for it met others
    on the cpu as it was made: there it cannot be moved alone."""
    made, meeting = asked.creation, asked.meeting
    statement = statement_around(made.spot)
    if statement is None or not _meets_others(statement, made.spot.node):
        return None
    whole = asked.stray.node
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    node, spot, frame = handed_on(whole, meeting.spot, meeting.frame)
    if not isinstance(node, ast.Name):
        return None
    value = _bound_to(node.id, frame) if node.id in frame.names else None
    if value is None and (last := _bound_by_file(node.id, frame.source.tree)) is not None:
        value, spot = last, spot._replace(function=None)
    if value is None or holds(value, made.spot.node):
        return None
    return Reason("input-not-moved", spot._replace(source=frame.source, node=value), frame)


def _meets_others(around: ast.AST, node: ast.AST) -> bool:
    """Whether a statement computes of a value and of something else that may be a tensor."""
    for one in nodes(around, ast.BinOp, ast.Compare):
        sides: list[ast.expr] = []
        match one:
            case ast.BinOp(left=left, right=right):
                sides = [left, right]
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
        own = [each for each in sides if holds(each, node)]
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
    if rows is None or not names(rows):
        return False
    return any(
        isinstance(one, ast.Subscript) and ast.dump(one.slice) == ast.dump(rows)
        for one in moved_in(node)
    )
