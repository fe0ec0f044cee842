"""Replicas of a module, each on its own GPU: why their wrapper does not find it at home, what they share
though only one of them can use it, and what ignores the rank of its process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnose.kinds import EventKind
from diagnose.placement.control_dependence import turned_on
from diagnose.placement.device_patterns import of_input
from diagnose.placement.devices import SPLIT
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Source, Spot, Step, Suspect
from diagnose.placement.provenance import Reason, born_at, first_of, is_literal, last_move
from diagnose.placement.semantics import (
    Function,
    argument,
    around,
    bindings,
    bound,
    called,
    calls,
    class_of,
    dotted,
    is_property,
    lines_of,
    nodes,
    returned,
    stored_attributes,
)
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


def listed(wrapped: Step) -> ast.Name | ast.Attribute | None:
    """The variable that lists the GPUs of a wrapper; of ``list(gpus)``, ``gpus``."""
    wraps, ids = wrapped.spot.node, None
    if isinstance(wraps, ast.Call):
        ids = argument(wraps, "device_ids", 1)
    match ids:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            ids = inner
    return ids if isinstance(ids, ast.Name | ast.Attribute) else None


def chosen_home(move: Step, wrapped: Step) -> Spot | None:
    """Where the function that wraps a module, or its class, chose the first GPU for it
    (``device = "cuda"``), though a variable that is known there lists the wrapper's GPUs.

    Args:
        move: the step that moved the module.
        wrapped: the step that wrapped it.
    """
    ids, spot = listed(wrapped), wrapped.spot
    match move.spot.node:
        case ast.Call(func=ast.Attribute(attr="to"), args=[device, *_]):
            pass
        case _:
            return None
    if ids is None or not move.spot.is_beside(spot):
        return None
    tree = spot.source.tree
    scope: ast.AST = spot.enclosing or tree
    owner = next(around(tree, spot.node, ast.ClassDef), None)
    if isinstance(device, ast.Name):
        values = _values(scope, device.id)
        if len(values) != 1:
            return None
        device = values[0]
        if (first := _first(device)) is not None:
            return spot._replace(node=first) if _is_known(ids, scope, first.lineno) else None
    if owner is None or not _is_own(device):
        return None
    first = _of_class(owner, ast.unparse(device), ids, scope)
    return spot._replace(node=first) if first is not None else None


def _of_class(owner: ast.AST, device: str, ids: ast.expr, scope: ast.AST) -> ast.Constant | None:
    """The first GPU as a class chose it for the device that its objects keep, or give as a property."""
    methods = list(nodes(owner, ast.FunctionDef, ast.AsyncFunctionDef))
    given = [
        (one, value, True)
        for one in methods
        if f"self.{one.name}" == device and is_property(one)
        for value in returned(one)
        if value is not None
    ]
    kept = [(one, value, False) for one in methods for value in _values(one, device)]
    if len(given) + len(kept) != 1:
        return None
    method, value, later = (*given, *kept)[0]
    first = _first(value)
    if first is None:
        return None
    if _is_own(ids):
        attribute = ".".join(ast.unparse(ids).split(".")[:2])
        known = later or _is_bound_above(attribute, method, first.lineno)
    else:
        known = method is scope and _is_known(ids, method, first.lineno)
    return first if known else None


def _first(value: ast.expr) -> ast.Constant | None:
    """The one literal that names the first GPU in an expression."""
    first = [one for one in nodes(value, ast.Constant) if one.value == "cuda"]
    return first[0] if len(first) == 1 else None


def _is_own(value: ast.expr) -> bool:
    """Whether an expression reads an attribute of the object, or of what it keeps."""
    return isinstance(value, ast.Attribute) and ast.unparse(value).startswith("self.")


def _values(scope: ast.AST, name: str) -> list[ast.expr]:
    """What the statements of a scope set a variable or an attribute to."""
    return [one.value for one in bound(scope, name) if one.value is not None]


def _is_bound_above(name: str, scope: ast.AST, line: int) -> bool:
    """Whether a scope binds a name or an attribute above a line."""
    return any(one.target.lineno < line for one in bound(scope, name))


def _is_known(name: ast.expr, scope: ast.AST, line: int) -> bool:
    """Whether what a dotted name begins with is a parameter of a scope, or bound in it above a line."""
    root = ast.unparse(name).partition(".")[0]
    given = any(one.arg == root for one in nodes(scope, ast.arg))
    return given or _is_bound_above(root, scope, line)


CAUSE = "dataparallel-replica-state"


def shared(source: Source, lines: Sequence[int]) -> Suspect | None:
    """What the functions of a traceback read that no replica has a copy of.

    Args:
        source: the file.
        lines: the lines of it that the traceback shows, innermost first.
    """
    for line in lines:
        function = source.function_at(line)
        if function is None:
            continue
        for one in (function, *_called(source.tree, function, line)):
            if (kept := _kept_where_asked(source, one)) is not None:
                asked = asked_again(source, kept)
                beside = Spot(source, asked, one.name) if asked is not None else None
                return _suspect(source, kept, one)._replace(beside=beside)
        reads = [one for one in _reads(source.tree, function) if one.lineno <= line]
        if len({ast.unparse(one) for one in reads}) == 1:
            return _suspect(source, reads[0], function)
    return None


def _suspect(source: Source, node: ast.AST, function: Function) -> Suspect:
    said = ast.unparse(node) if isinstance(node, ast.expr) else ""
    device = of_input(function)
    devices = (device,) if device is not None else ()
    return Suspect(CAUSE, said, Spot(source, node, function.name), devices=devices, sure=False)


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


def _kept_where_asked(source: Source, function: Function) -> ast.Assign | None:
    """The statement by which a function fills what its object keeps, where it asks for that."""
    for node in nodes(function, ast.If):
        for one in node.body:
            if isinstance(one, ast.Assign) and asked_again(source, one) is node:
                return one
    return None


def read_in(spot: Spot, name: str) -> ast.expr | None:
    """What the function of a place reads first of a container that its object keeps."""
    function = spot.enclosing
    found = [
        one
        for one in (nodes(function, ast.Subscript) if function is not None else ())
        if isinstance(one.ctx, ast.Load)
        and dotted(one.value) == f"self.{name}"
        and one.lineno <= spot.line
    ]
    return min(found, key=lambda one: (one.lineno, one.col_offset), default=None)


def _called(tree: ast.Module, function: Function, line: int) -> Iterator[Function]:
    """The user's functions that a line of a function calls, or one above it."""
    above = {called(one) for one in calls(function) if one.lineno <= line}
    for node in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        if node.name in above and node is not function:
            yield node


def _reads(tree: ast.Module, function: Function) -> Iterator[ast.expr]:
    """What a function reads of a class, or of its object, that another method sets which is no
    ``__init__`` and no ``forward``."""
    classes, own = {one.name for one in nodes(tree, ast.ClassDef)}, class_of(tree, function)
    setters = [
        (one, node)
        for node in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.name not in ("__init__", function.name)
        for one in stored_attributes(node)
    ]
    of_class = {dotted(one) for one, _ in setters if dotted(one.value) in classes}
    of_self = {
        dotted(one)
        for one, node in setters
        if own is not None and node in own.body and dotted(one.value) == "self"
    }
    plain = of_class | (of_self - _numbers(own))
    for read in nodes(function, ast.Attribute):
        if isinstance(read.ctx, ast.Load) and dotted(read) in plain:
            yield read


def is_kept_once(owner: ast.ClassDef | None, method: str, attribute: str) -> bool:
    """Whether only one method of a class sets an attribute, and no other one of the class calls that."""
    if owner is None or method == "forward":
        return False
    set_once = sum(one.attr == attribute for one in stored_attributes(owner)) == 1
    return set_once and all(dotted(one.func) != f"self.{method}" for one in calls(owner))


def _numbers(owner: ast.ClassDef | None) -> set[str | None]:
    """The attributes that a class sets to what is surely no tensor, a literal other than None."""
    return {
        dotted(one.target)
        for one in (bindings(owner) if owner is not None else ())
        if isinstance(one.value, ast.Constant) and one.value.value is not None
    }


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
