"""The statements that give an input its name: beside moves of others, or after it met others."""

from __future__ import annotations

import ast

from diagnose.kinds import Origin
from diagnose.placement.localization.availability import handed_on, statement_around
from diagnose.placement.localization.question import Question
from diagnose.placement.pass_through import moved_in, moves_from, taken_from
from diagnose.placement.provenance import Reason
from diagnose.placement.semantics import holds, names, nodes
from diagnose.placement.values import Frame


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
