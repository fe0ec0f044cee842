"""Why a wrapper that copies its module to several GPUs does not find it at home, or its copies share what
only one of them can use."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import EventKind
from diagnose.placement.control_dependence import turned_on
from diagnose.placement.devices import SPLIT
from diagnose.placement.localization.primary_device import chosen_home, listed
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, born_at, first_of, is_literal, last_move
from diagnose.placement.replicas import CAUSE, asked_again, read_in
from diagnose.placement.semantics import around, bindings, dotted
from diagnose.placement.tensors import Tensor

#: How programs ask for several GPUs.
_COUNTS = re.compile(r"device_count\(\)|\bn(um)?(_?gpus?|_devices)?\b")


def away_from_home(asked: Question) -> Reason | None:
    """A wrapper whose module is not at home: the last move if it came later, else where it was wrapped."""
    meeting = asked.meeting
    weight, wrapper = meeting.sides[0].tensor, meeting.sides[-1].tensor
    wrapped = first_of(wrapper.steps, EventKind.WRAPPED)
    move = last_move(weight.steps)
    if wrapped is None:
        return None
    if weight.device == SPLIT:
        cause = "device-map-under-training"
        spot, condition = turned_on(cause, wrapped.spot), None
        if move is None and spot is wrapped.spot and not _is_always_split(weight):
            condition = _asked_before(spot)
        return Reason(cause, spot, None, _wrapped(wrapped), beside=condition)
    if wrapper.device is not None and wrapper.device.ranked:
        if move is None or (not is_literal(move) and move.of is None):
            return None  # what no line names may be the process's own
        spot = move.spot if is_literal(move) else move.of or move.spot
        return Reason("rank-device", spot, weight.frame)
    order = [
        step.what for step in weight.steps if step.what in (EventKind.MOVED, EventKind.WRAPPED)
    ]
    if move is not None and (order[-1] == EventKind.MOVED or _goes_home(move, wrapped)):
        return Reason("dataparallel-home-device", move.spot, wrapper.frame)
    if move is not None and (chosen := chosen_home(move, wrapped)) is not None:
        return Reason("dataparallel-home-device", chosen, wrapper.frame)
    return Reason("dataparallel-home-device", wrapped.spot, wrapper.frame)


def _wrapped(step: Step) -> str:
    """What a wrapper is made of, as its call says it."""
    node = step.spot.node
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else ""


def _is_always_split(weight: Tensor) -> bool:
    """Whether the class of a weight's model writes down where a part of it goes."""
    whole = weight.module.whole() if weight.module is not None else None
    moves = (last_move(one.steps) for one in whole.family()) if whole is not None else ()
    return any(move is not None and is_literal(move) for move in moves)


def _asked_before(wrapped: Spot) -> Spot | None:
    """The condition under which a statement does nothing but wrap, where that asks for the GPUs alone: of a
    model that is split where it is told to be, it has to ask as well."""
    for one in around(wrapped.source.tree, wrapped.node, ast.If):
        match one:
            case ast.If(test=test, body=[ast.Assign(value=value)], orelse=[]):
                if value is wrapped.node and _COUNTS.search(ast.unparse(test)):
                    return wrapped._replace(node=test)
    return None


def _goes_home(move: Step, wrapped: Step) -> bool:
    """Whether a module goes to the first GPU, and its wrapper to those that a variable lists."""
    node = move.spot.node
    bare = isinstance(node, ast.Call) and ast.unparse(node).endswith((".cuda()", ".to('cuda')"))
    return bare and listed(wrapped) is not None


def shared_by_replicas(tensor: Tensor, kept: Step, meeting: Meeting) -> Reason | None:
    """What a module keeps that its replicas share: a cache where that is asked for, what is put into a
    container later than that is made where it is read, all else where it is kept. None of a cache that
    has one of each device."""
    if kept.what == EventKind.HELD and _is_by_device(kept.spot.source.tree, _attribute(kept)):
        return None
    name, made = f"self.{tensor.name or _attribute(kept)}", born_at(tensor.steps)
    asked = asked_again(kept.spot.source, kept.spot.node)
    beside = kept.spot._replace(node=asked) if asked is not None else None
    if (
        kept.what == EventKind.HELD
        and made is not None
        and made.spot.function != kept.spot.function
    ):
        read = read_in(meeting.spot, _attribute(kept))
        if read is not None:
            return Reason(CAUSE, meeting.spot._replace(node=read), meeting.frame)
    return Reason(CAUSE, kept.spot, tensor.frame, name, beside=beside)


def _is_by_device(tree: ast.Module, attribute: str) -> bool:
    """Whether an object's dict is filled by keys alone in which a device is: each device finds its own."""
    set_to = {dotted(one): ast.unparse(by) for one, by, _ in bindings(tree) if by is not None}
    filled = [
        ast.unparse(one.target.slice)
        for one in bindings(tree)
        if isinstance(one.target, ast.Subscript)
        and isinstance(one.target.value, ast.Attribute)
        and one.target.value.attr == attribute
    ]
    return bool(filled) and all("device" in set_to.get(key, key) for key in filled)


def _attribute(kept: Step) -> str:
    """The attribute that a statement sets."""
    node = kept.spot.node
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.attr if isinstance(target, ast.Attribute) else ""
