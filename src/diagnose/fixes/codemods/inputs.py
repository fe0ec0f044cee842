"""Inputs are moved where they enter: the expression itself, the variables of a loop, a parameter."""

from __future__ import annotations

import ast
import contextlib
import math
import re
from collections.abc import Sequence

from diagnose.fixes.codemods.discarded_moves import is_dropped, kept
from diagnose.fixes.codemods.expressions import replaced, with_argument, without_method
from diagnose.fixes.codemods.fixed_device import elsewhere
from diagnose.fixes.codemods.positions import ancestors, class_around, statement_of
from diagnose.fixes.codemods.prepare_calls import prepared
from diagnose.fixes.codemods.settings import is_setting, on_the_gpu
from diagnose.fixes.codemods.shard_crossings import crossing, enters_each, sent_elsewhere
from diagnose.fixes.codemods.statements import after_statement, before_statement, first_in_body
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.codemods.transfers import (
    is_moved,
    receiver,
    same_move,
    tensor,
    unpacked,
    value_of,
)
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import EventKind
from diagnose.model import TorchNames
from diagnose.placement.model import Suspect
from diagnose.placement.provenance import last_of
from diagnose.placement.semantics import (
    argument,
    arguments,
    around,
    bound,
    called,
    calls,
    dotted,
    holds,
    lines_of,
    names,
    scope_of,
    walk,
)

_Loop = (ast.For, ast.AsyncFor)
_NUMBER = re.compile(r"cuda:(\d+)\b")
#: Functions of torch that run a model on batches, and bring those to the device that they are told.
_BRINGING = frozenset({"update_bn"})
#: Functions that keep what they are given, whatever it is.
_KEEPING = frozenset({"append", "add", "extend", "update", "save", "write"})
#: Functions whose arguments are shown, counted or asked of, and not computed with.
_ASKING = frozenset({"print", "range", "str", "int", "isinstance", "enumerate", "zip", "format"})


def move_input(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """An input is moved by the expression that makes it, or by a statement where it gets its name."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause == "input-on-wrong-shard":
        if chosen := sent_elsewhere(suspect):
            return chosen
        with contextlib.suppress(Refused):
            return elsewhere(suspect, torch)
        return [crossing(suspect, torch)]
    if suspect.cause == "checkpoint-location" and str(suspect.wanted) == "cpu":
        raise Refused("what is loaded holds other things, too")
    if enters_each(suspect):
        return [crossing(suspect, torch)]
    if suspect.cause == "kernel-needs-gpu" and is_setting(node):
        return [on_the_gpu(source, node)]
    if suspect.cause == "kernel-needs-gpu" and called(node) == "cpu" and isinstance(node, ast.Call):
        return [without_method(source, node)]
    if isinstance(node, ast.arg):
        return [_parameter(suspect, node)]
    if isinstance(node, ast.Call) and called(node) in _BRINGING:
        if argument(node, "device") is not None or len(node.args) > 2:
            raise Refused("it is told a device already")
        return [with_argument(source, node, "device", target_device(suspect))]
    if suspect.owner is not None and suspect.beside is not None:
        if not isinstance(node, ast.Call):
            raise Refused("no call prepares the others")
        return [prepared(source, node, suspect.owner)]
    suspect = _given(suspect)
    node = suspect.spot.node
    outer = ancestors(source, node)
    loop = next((o for o in reversed(outer) if isinstance(o, _Loop)), None)
    if loop is not None and (loop is node or holds(loop.iter, node) or holds(loop.target, node)):
        return [_beside(suspect, loop, torch) or _loop(suspect, loop, torch)]
    statement = statement_of(source, node)
    value = value_of(suspect)
    alone = isinstance(statement, ast.Expr) and is_moved(value, torch)
    lost = isinstance(statement, ast.Assign) and is_dropped(suspect)
    if (
        isinstance(statement, ast.Expr | ast.Assign)
        and statement.value is value
        and (alone or lost)
    ):
        return kept(suspect, statement)
    if unpacked(statement, value):
        assert isinstance(statement, ast.Assign)
        body = scope_of(source.tree, statement).body
        code = _moves(suspect, names(statement.targets[0]), body, torch)
        return [after_statement(source, statement, code)]
    parent = outer[-2]
    if isinstance(parent, ast.keyword) and parent.arg is None and isinstance(node, ast.Name):
        return [replaced(source, node, _of_dict(node.id, target_device(suspect)))]
    scope = scope_of(source.tree, node)
    if isinstance(node, ast.Name) and _is_read_again(statement, scope, node, torch):
        code = f"{node.id} = {node.id}.to({target_device(suspect)})"
        return [before_statement(source, statement, code)]
    return tensor(suspect, torch)


def _given(suspect: Suspect) -> Suspect:
    """What is given to a call by its name, in place of the call that it stands in."""
    node = suspect.spot.node
    given = arguments(node) if isinstance(node, ast.Call) else []
    found = next((one for one in given if ast.unparse(one) == suspect.name), None)
    return suspect if found is None else suspect._replace(spot=suspect.spot._replace(node=found))


def _is_read_again(statement: ast.stmt, scope: ast.AST, node: ast.Name, torch: TorchNames) -> bool:
    """Whether later statements of a function compute with the same value, and hand it to no host code."""
    end = lines_of(statement).stop
    sets = [one.target.lineno for one in bound(scope, node.id) if one.target.lineno >= end]
    until = min(sets, default=math.inf)
    later = [
        one
        for one in calls(scope)
        if end <= one.lineno <= until
        and any(isinstance(each, ast.Name) and each.id == node.id for each in one.args)
    ]
    host = torch.host_packages | {*_ASKING, *_KEEPING, "len"}
    named = {
        name for one in later for name in (called(one), (dotted(one.func) or "").split(".")[0])
    }
    return isinstance(scope, ast.FunctionDef) and bool(later) and host.isdisjoint(named)


def entered(suspect: Suspect, _: TorchNames) -> Suspect:
    """An input that nothing moves on its way from a loop over batches, at that loop; else as it is."""
    left = any(step.what == EventKind.LEFT and step.spot == suspect.spot for step in suspect.steps)
    if suspect.cause != "input-not-moved" or suspect.beside is not None or left:
        return suspect
    bound = last_of(suspect.steps, EventKind.BOUND)
    if bound is None or not isinstance(bound.spot.node, _Loop) or suspect.spot == bound.spot:
        return suspect
    source, loop = bound.spot.source, bound.spot.node
    here = source is suspect.spot.source and holds(loop, suspect.spot.node)
    same = source is suspect.spot.source and (
        class_around(source, loop) is class_around(source, suspect.spot.node) is not None
    )
    own = tuple(device for device in suspect.devices if same and device.startswith("self."))
    return suspect._replace(spot=bound.spot, devices=suspect.devices if here else own)


def _of_dict(name: str, device: str) -> str:
    return f"{{key: value.to({device}) for key, value in {name}.items()}}"


def _parameter(suspect: Suspect, node: ast.arg) -> Change:
    """A parameter is moved by the first statement of its function, after the docstring."""
    source = suspect.spot.source
    function = next(around(source.tree, node, ast.FunctionDef), None)
    if function is None:
        raise Refused("it is the parameter of no function")
    if any(one is node for one in (function.args.vararg, function.args.kwarg)):
        raise Refused("the parameter stands for several arguments")
    code = f"{node.arg} = {node.arg}.to({target_device(suspect)})"
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return after_statement(source, first, code)
    parts = [one for one in walk(function.args) if isinstance(one, (ast.arg, ast.expr))]
    header = max(one.end_lineno or 0 for one in [*parts, function.returns or node])
    return first_in_body(source, function.body, header, code)


def _beside(suspect: Suspect, loop: ast.For | ast.AsyncFor, torch: TorchNames) -> Change | None:
    """Where others of a loop's variables are moved, the forgotten ones are, as those are."""
    source, beside = suspect.spot.source, suspect.beside
    if beside is None or not isinstance(beside.node, ast.stmt) or beside.node not in loop.body:
        return None
    names = _looped(loop)
    move = next((one for one in calls(beside.node) if _moves_one_of(one, names, torch)), None)
    if move is None:
        return None
    left = [name for name in names if not _moved_in(name, loop.body, torch)]
    if suspect.name in left:
        left = [suspect.name]
    elif len(left) > 1:
        left = [name for name in left if _computed(name, loop.body)]
    if not left:
        raise Refused("they are moved already")
    moved = same_move(source, move)
    wanted, said = suspect.wanted, _NUMBER.search(moved)
    if wanted is not None and said is not None and wanted.number not in (None, int(said[1])):
        moved = f'.to("{wanted}")'  # the others are wanted on another GPU
    code = "\n".join(f"{name} = {name}{moved}" for name in left)
    return before_statement(source, beside.node, code)


def _moves_one_of(call: ast.Call, names: Sequence[str], torch: TorchNames) -> bool:
    return (
        is_moved(call, torch)
        and isinstance(owner := call.func, ast.Attribute)
        and (isinstance(owner.value, ast.Name) and owner.value.id in names)
    )


def _looped(loop: ast.For | ast.AsyncFor) -> list[str]:
    """The variables of a loop without the number of its round."""
    if called(loop.iter) == "enumerate" and isinstance(loop.target, ast.Tuple):
        return names(loop.target.elts[1])
    return names(loop.target)


def _loop(suspect: Suspect, loop: ast.For | ast.AsyncFor, torch: TorchNames) -> Change:
    """The variables of a loop are moved by the first statements of its body."""
    source = suspect.spot.source
    code = _moves(suspect, _looped(loop), loop.body, torch)
    header = loop.iter.end_lineno or loop.lineno
    return first_in_body(source, loop.body, header, code)


def _moves(
    suspect: Suspect, names: Sequence[str], body: Sequence[ast.stmt], torch: TorchNames
) -> str:
    """Statements that move the tensors among names, a statement each."""
    device = target_device(suspect)
    if len(names) == 1 and (whole := _of_parts(names[0], body, device)) is not None:
        return whole
    wanted = [n for n in names if n == suspect.name or (len(names) > 1 and _computed(n, body))]
    wanted = wanted or (list(names) if len(names) == 1 else [])
    left = [name for name in wanted if not _moved_in(name, body, torch)]
    if not left:
        raise Refused(
            "they are moved already" if wanted else "it is not known which of the names are tensors"
        )
    return "\n".join(f"{name} = {name}.to({device})" for name in left)


def _of_parts(name: str, body: Sequence[ast.stmt], device: str) -> str | None:
    """The statement that moves the parts of a dict or tuple; None where the name is used as a tensor is."""
    for node in _walk(body):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="items")):
                if owner == name:
                    raise Refused(f"the parts of {name} are moved in the body, maybe")
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str())):
                as_dict = owner == name
            case ast.keyword(arg=None, value=ast.Name(id=owner)):
                as_dict = owner == name
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Name(id=owner)):
                if owner == name:
                    return f"{name} = [part.to({device}) for part in {name}]"
                continue
            case _:
                continue
        if as_dict:
            return f"{name} = {_of_dict(name, device)}"
    return None


def _walk(body: Sequence[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in walk(statement)]


def _moved_in(name: str, body: Sequence[ast.stmt], torch: TorchNames) -> bool:
    """Whether a name is moved somewhere in a body."""
    inside = (one for statement in body for one in calls(statement))
    return any(called(one) in torch.moves and receiver(one) == name for one in inside)


def _computed(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether a name is computed with as tensors are: handed to a function, and not shown or counted."""
    handed = False
    for node in _walk(body):
        if isinstance(node, ast.JoinedStr) and name in names(node):
            return False
        if isinstance(node, ast.Call) and called(node) != "len":
            direct = [a.id for a in node.args if isinstance(a, ast.Name)]
            if name in direct:
                if called(node) in _ASKING:
                    return False
                handed = handed or called(node) not in _KEEPING
    return handed


def index(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """An index is moved where it is made or picks, one that a function is given by its first statement."""
    if isinstance(suspect.spot.node, ast.arg):
        return [_parameter(suspect, suspect.spot.node)]
    return tensor(suspect, torch)


KINDS = {"move-input": move_input, "index-to-device": index}
