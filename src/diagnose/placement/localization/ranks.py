"""Devices that a process's rank chooses, and what ignores the rank."""

from __future__ import annotations

import ast

from diagnose.placement.localization.question import Question
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, born_at, last_move
from diagnose.placement.semantics import around, called, calls, lines_of, nodes
from diagnose.placement.tensors import Tensor


def of_rank(found: Reason, asked: Question) -> Reason | None:
    """A device that ignores the rank by which the other side's was chosen."""
    other = asked.other
    if found.cause != "hardcoded-device" or other is None:
        return None
    chosen, there = _placed(other.tensor), other.tensor.device
    if chosen is None or there is None or not there.ranked:
        return None
    if _names_no_number(found.spot) and (joined := _joined(found.spot, chosen)) is not None:
        return found._replace(cause="rank-device", spot=joined, frame=None)
    if chosen.of is None or not _follows_the_current_device(found.spot):
        return found._replace(cause="rank-device")
    # `.cuda()` is right once the process has chosen its device, where the rank is known.
    return found._replace(cause="rank-device", spot=chosen.of)


def _placed(tensor: Tensor) -> Step | None:
    """The step that brought a tensor, or the module whose output or weight it is, to where it is."""
    step = last_move(tensor.steps)
    owners = tensor.module.owners() if tensor.module is not None else ()
    chosen = (s for one in owners for s in reversed(one.steps) if s.of is not None)
    return step or next(chosen, None) or born_at(tensor.steps)


def _names_no_number(spot: Spot) -> bool:
    """Whether a place means the process's current device: ``.cuda()``, ``"cuda"``."""
    node = spot.node
    bare = isinstance(node, ast.Call) and not node.args and not node.keywords
    return _named(node) or (bare and called(node) == "cuda")


def _joined(spot: Spot, chosen: Step) -> Spot | None:
    """Where a process joins the others by a rank that the function is told, if the program neither sets
    its device nor keeps one of the rank's."""
    if _is_kept(spot) or (chosen.of is not None and _is_kept(chosen.of)):
        return None
    tree = spot.source.tree
    joins = calls(tree, "init_process_group")
    if len(joins) != 1 or calls(tree, "set_device"):
        return None
    for function in around(tree, joins[0], ast.FunctionDef):
        told = {one.arg for one in nodes(function, ast.arg)}
        told |= {one.attr for one in nodes(function, ast.Attribute)}
        if told & {"rank", "local_rank"}:
            return spot._replace(node=joins[0], function=function.name)
    return None


def _is_kept(spot: Spot) -> bool:
    """Whether a place is bound to a name as a device: there one change is enough."""
    return any(
        spot.line in lines_of(one) and called(one.value) == "device"
        for one in nodes(spot.source.tree, ast.Assign)
    )


def _follows_the_current_device(spot: Spot) -> bool:
    """Whether a place names the process's current device, by ``.cuda()``, or by ``"cuda"`` as others do."""
    node = spot.node
    method = node.func if isinstance(node, ast.Call) and not node.args else None
    if isinstance(method, ast.Attribute) and method.attr == "cuda":
        return True
    return _named(node) and sum(map(_named, calls(spot.source.tree))) > 1


def _named(node: ast.AST) -> bool:
    """Whether a call names ``"cuda"`` without a number, itself and not in a condition."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant) and node.value == "cuda"
    given = [*node.args, *(one.value for one in node.keywords if one.arg == "device")]
    one = len(given) == 1 or any(one.arg == "device" for one in node.keywords)
    return one and any(isinstance(arg, ast.Constant) and arg.value == "cuda" for arg in given)
