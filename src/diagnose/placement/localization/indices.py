"""Why an index is elsewhere than what it picks from: where it was made, or where it picks."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.localization.availability import has_device, has_placed, where_built
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, device_argument, left_behind, on_cpu
from diagnose.placement.semantics import calls, holds, names, nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame


def of_index(asked: Question) -> Reason | None:
    """The reason for an index that is elsewhere: made in the same function, by another method of the
    module, or to be returned beside what is there; else where it is used."""
    stray, meeting = asked.stray, asked.meeting
    if not asked.meets(ConstraintKind.INDEX) or stray is not meeting.sides[1]:
        return None
    if left_behind(asked.tensor.steps) is not None:
        return None
    tensor, spot, born = asked.tensor, asked.use, asked.made
    told = born is not None and device_argument(born.spot) is not None
    if told and born is not None and not on_cpu(tensor) and _is_computed(stray, born, meeting):
        pass  # it is there on purpose, for what else it is computed with
    elif born is not None and born.spot.function == meeting.spot.function:
        spot = born.spot if tensor.maker == Origin.FACTORY else spot
    elif born is not None and _made_by_own(tensor, meeting):
        spot = born.spot
    elif born is not None and (given := _returned(born, tensor)) is not None:
        spot = given
    elif born is not None and (handed := _handed(stray, born, meeting)) is not None:
        spot = handed
    if spot.node is stray.node and (taken := _picks_again(stray.node, meeting)) is not None:
        return Reason("index-device", *taken)
    return Reason("index-device", spot, tensor.frame)


def _picks_again(index: ast.AST, meeting: Meeting) -> tuple[Spot, Frame | None] | None:
    """Where a function is given an index that picks from several things and is nothing else: moved where it
    picks from one, it would fail at the next. That is its only call where those are on the host, else its
    parameter."""
    function, frame = meeting.spot.enclosing, meeting.frame
    if function is None or not isinstance(index, ast.Name) or frame.lines.get(index.id) != 0:
        return None
    read = [one for one in nodes(function, ast.Name) if one.id == index.id]
    picking = [one for one in nodes(function, ast.Subscript) if one.slice in read]
    taken = next((one for one in nodes(function, ast.arg) if one.arg == index.id), None)
    if taken is None or len(picking) < 2 or len(read) > len(picking):
        return None
    given, call = frame.given.get(index.id), frame.call
    alone = len(calls(meeting.spot.source.tree, function.name)) == 1
    if given is not None and call is not None and alone and on_cpu(meeting.sides[0].tensor):
        return call._replace(node=given), frame.caller
    return meeting.spot._replace(node=taken), frame


def _is_computed(stray: Meets, born: Step, meeting: Meeting) -> bool:
    """Whether an index is a variable that was computed with what a factory made, and is not that itself."""
    statement = meeting.frame.bound.get(next(iter(names(stray.node)), ""))
    return statement is not None and not holds(statement, born.spot.node)


def _handed(stray: Meets, born: Step, meeting: Meeting) -> Spot | None:
    """Where an index is made that a module's forward is handed, in a function that knows a device, or one
    that is called there."""
    tensor, frame = stray.tensor, meeting.frame
    root = next(iter(names(stray.node)), None)
    if root not in frame.given or frame.lines.get(root) != 0 or not isinstance(frame.this, Module):
        return None
    if (
        tensor.maker != Origin.FACTORY
        or not on_cpu(tensor)
        or device_argument(born.spot) is not None
    ):
        return None
    spot, around = where_built(born, tensor.frame, models=True)
    known = around is not None and not isinstance(around.this, Module)
    return spot if known and around is not None and has_device(around, spot) else None


def _made_by_own(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether another method of the module makes a tensor that it could make where the module is."""
    this = meeting.frame.this
    made_in = tensor.frame.this if tensor.frame is not None else None
    return tensor.maker == Origin.FACTORY and isinstance(this, Module) and made_in is this


def _returned(made: Step, tensor: Tensor) -> Spot | None:
    """Where a function that is handed a tensor of the accelerator makes another on the cpu to return it:
    its factory, or what it returns where a generator draws that; None for others."""
    frame = tensor.frame
    if tensor.maker != Origin.FACTORY or frame is None or not has_placed(frame, 0):
        return None
    if isinstance(frame.this, Module) or made.spot.function != frame.function:
        return None
    given = made.spot.node.keywords if isinstance(made.spot.node, ast.Call) else []
    if not any(one.arg == "generator" for one in given):
        return made.spot
    names = {name for name, one in frame.names.items() if made in one.steps}
    for returned in frame.returns:
        items = returned.value.elts if isinstance(returned.value, ast.Tuple) else [returned.value]
        for item in items:
            if isinstance(item, ast.Name) and item.id in names:
                return Spot(frame.source, item, frame.function)
    return None
