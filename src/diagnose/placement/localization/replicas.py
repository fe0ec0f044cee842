"""Replicas of a module, each on its own GPU: why their wrapper does not find it at home, what they share
though only one of them can use it, and what ignores the rank of its process.
"""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind
from diagnose.placement.control_dependence import turned_on
from diagnose.placement.devices import SPLIT
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Source, Spot, Step
from diagnose.placement.provenance import Reason, born_at, first_of, is_literal, last_move, last_of
from diagnose.placement.semantics import (
    argument,
    bindings,
    calls,
    dotted,
    nodes,
    stored_attributes,
)
from diagnose.placement.tensors import Tensor


def away_from_home(asked: Question) -> Reason | None:
    """A wrapper whose module is not at home: the last move if it came later, else where it was wrapped."""
    weight, wrapper = asked.meeting.sides[0].tensor, asked.meeting.sides[-1].tensor
    wrapped, move = first_of(wrapper.steps, EventKind.WRAPPED), last_move(weight.steps)
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
    later = last_of(weight.steps, EventKind.MOVED, EventKind.WRAPPED) is move
    if move is not None and (later or _goes_home(move, wrapped)):
        return Reason("dataparallel-home-device", move.spot, wrapper.frame)
    return Reason("dataparallel-home-device", wrapped.spot, wrapper.frame)


def _wrapped(step: Step) -> str:
    """What a wrapper is made of, as its call says it."""
    node = step.spot.node
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else ""


def _goes_home(move: Step, wrapped: Step) -> bool:
    """Whether a module goes to the first GPU, and its wrapper to those that a variable lists."""
    node = move.spot.node
    bare = isinstance(node, ast.Call) and ast.unparse(node).endswith((".cuda()", ".to('cuda')"))
    return bare and listed(wrapped) is not None


def shared_by_replicas(tensor: Tensor, kept: Step) -> Reason | None:
    """What a module keeps that its replicas share; None of a cache that has one of each device."""
    if kept.what == EventKind.HELD and _is_by_device(kept.spot.source.tree, _attribute(kept)):
        return None
    return Reason(CAUSE, kept.spot, tensor.frame, f"self.{tensor.name or _attribute(kept)}")


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


def listed(wrapped: Step) -> ast.Name | ast.Attribute | None:
    """The variable that lists the GPUs of a wrapper; of ``list(gpus)``, ``gpus``."""
    wraps, ids = wrapped.spot.node, None
    if isinstance(wraps, ast.Call):
        ids = argument(wraps, "device_ids", 1)
    match ids:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            ids = inner
    return ids if isinstance(ids, ast.Name | ast.Attribute) else None


CAUSE = "dataparallel-replica-state"


def asked_again(source: Source, kept: ast.AST) -> ast.If | None:
    """The condition under which a method keeps an attribute again, or calls the one that does, if that asks
    for the attribute: it is a cache, whose device nothing asks for."""
    own = {one.attr for one in kept_by(kept)}
    for node in nodes(source.tree, ast.If) if own else ():
        if any(_fills(one, kept, source, node) for one in node.body):
            asked = nodes(node.test, ast.Attribute, ast.Constant)
            said = {one.attr if isinstance(one, ast.Attribute) else one.value for one in asked}
            return node if own & said and "device" not in said else None
    return None


def kept_by(statement: ast.AST) -> list[ast.Attribute]:
    """The attributes that an assignment sets, alone or several at once."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    several = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one for one in several if isinstance(one, ast.Attribute)]


def _fills(statement: ast.stmt, kept: ast.AST, source: Source, asked: ast.If) -> bool:
    """Whether a statement is the one that keeps something, or calls the object's method that has it, where
    more is asked than whether it is there: what is begun once is state, and not to be begun anew."""
    match statement:
        case _ if not isinstance(asked.test, ast.BoolOp):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
            return any(
                one.name == name and kept in one.body
                for one in nodes(source.tree, ast.FunctionDef, ast.AsyncFunctionDef)
            )
    return statement is kept


def is_kept_once(owner: ast.ClassDef | None, method: str, attribute: str) -> bool:
    """Whether only one method of a class sets an attribute, and no other one of the class calls that."""
    if owner is None or method == "forward":
        return False
    set_once = sum(one.attr == attribute for one in stored_attributes(owner)) == 1
    return set_once and all(dotted(one.func) != f"self.{method}" for one in calls(owner))


def of_rank(found: Reason, asked: Question) -> Reason | None:
    """A device that ignores the rank by which the other side's was chosen."""
    other = asked.other
    if found.cause != "hardcoded-device" or other is None:
        return None
    chosen, there = _placed(other.tensor), other.tensor.device
    if chosen is None or there is None or not there.ranked:
        return None
    # `.cuda()` is right once the process has chosen its device, where the rank is known.
    current = chosen.of is not None and _follows_the_current_device(found.spot)
    spot = chosen.of if current and chosen.of is not None else found.spot
    return found._replace(cause="rank-device", spot=spot)


def _placed(tensor: Tensor) -> Step | None:
    """The step that brought a tensor, or the module whose output or weight it is, to where it is."""
    step = last_move(tensor.steps)
    owners = tensor.module.owners() if tensor.module is not None else ()
    chosen = (s for one in owners for s in reversed(one.steps) if s.of is not None)
    return step or next(chosen, None) or born_at(tensor.steps)


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
