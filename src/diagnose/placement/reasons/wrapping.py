"""Why a wrapper that copies its module to several GPUs does not find it at home."""

from __future__ import annotations

import ast

from diagnose.placement.devices import SPLIT
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Step
from diagnose.placement.steps import Reason, is_literal, last_move
from diagnose.placement.switches import turned_on


def away_from_home(meeting: Meeting, stray: Meets) -> Reason | None:
    """A wrapper whose module is not at home: the last move if it came later, else where it was wrapped."""
    weight, wrapper = meeting.sides[0].tensor, meeting.sides[-1].tensor
    wrapped = next((s for s in wrapper.steps if s.what == "wrapped"), None)
    move = last_move(weight.steps)
    if wrapped is None:
        return None
    if weight.device == SPLIT:
        cause = "device-map-under-training"
        return Reason(cause, turned_on(cause, wrapped.spot), None, _wrapped(wrapped))
    if wrapper.device is not None and wrapper.device.ranked:
        if move is None or (not is_literal(move) and move.of is None):
            return None  # what no line names may be the process's own
        spot = move.spot if is_literal(move) else move.of or move.spot
        return Reason("rank-device", spot, weight.frame)
    order = [step.what for step in weight.steps if step.what in ("moved", "wrapped")]
    if move is not None and (order[-1] == "moved" or _goes_home(move, wrapped)):
        return Reason("dataparallel-home-device", move.spot, wrapper.frame)
    return Reason("dataparallel-home-device", wrapped.spot, wrapper.frame)


def _wrapped(step: Step) -> str:
    """What a wrapper is made of, as its call says it."""
    node = step.spot.node
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else ""


def _goes_home(move: Step, wrapped: Step) -> bool:
    """Whether a module goes to the first GPU, and its wrapper to those that a variable lists."""
    node, wraps = move.spot.node, wrapped.spot.node
    bare = isinstance(node, ast.Call) and ast.unparse(node).endswith(".cuda()")
    ids: ast.expr | None = None
    if isinstance(wraps, ast.Call):
        named = (one.value for one in wraps.keywords if one.arg == "device_ids")
        ids = next(named, wraps.args[1] if len(wraps.args) > 1 else None)
    return bare and isinstance(ids, ast.Name | ast.Attribute)
