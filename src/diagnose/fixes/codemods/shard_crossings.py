"""What crosses from one GPU to another, at the call of the part of a split model that it enters."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.expressions import around, moved, replaced, with_argument
from diagnose.fixes.codemods.fixed_device import elsewhere
from diagnose.fixes.codemods.positions import ancestors, statement_of, text_of
from diagnose.fixes.codemods.replica_caches import as_read
from diagnose.fixes.codemods.target_device import in_scope, target_device
from diagnose.fixes.codemods.transfers import is_moved
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.localization.replicas import CAUSE as SHARED
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, called, calls, dotted, holds, names, scope_of


def enters_each(suspect: Suspect) -> bool:
    """Whether what crosses from one GPU to another enters parts that a loop takes one by one."""
    if suspect.cause != "cross-shard-op" or suspect.meets is None:
        return False
    source, meets = suspect.spot.source, suspect.meets.node
    loops = [
        one
        for one in ancestors(source, suspect.spot.node)
        if isinstance(one, ast.For | ast.AsyncFor)
    ]
    taken = {name for loop in loops for name in names(loop.target)}
    called = meets.func if isinstance(meets, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in taken


def crossing(suspect: Suspect, torch: TorchNames) -> Change:
    """An input of a part of a split model is moved where that part is called, to the part's device."""
    meets, source = suspect.meets, suspect.spot.source
    if meets is None or meets.source is not source:
        raise Refused("no call of the file takes it")
    taken = [
        (call, given)
        for call in calls(meets.node)
        for given in [*call.args, *(keyword.value for keyword in call.keywords)]
        if ast.unparse(given) == suspect.name
    ]
    if len(taken) != 1 or is_moved(taken[0][1], torch):
        raise Refused("the line does not show where it enters the part")
    [(call, given)] = taken
    part = call.func
    if isinstance(part, ast.Attribute) and part.attr in torch.running:
        part = part.value
    name = dotted(part)
    root = (name or "super").partition(".")[0]
    if name is None or root == "super" or root in torch.packages:
        raise Refused("what it enters has no name")
    handed_on = suspect.cause == "input-on-wrong-shard" and given is suspect.spot.node
    told = suspect.devices if handed_on else ()  # the part is one of what is called
    return moved(source, given, told[0] if told else f"next({name}.parameters()).device")


def sent_elsewhere(suspect: Suspect) -> list[Change]:
    """The device that a program chose for the inputs of a model becomes that of the part that they enter;
    the other inputs of the statement that the model is called with go there, too. none where
    the line moves nothing."""
    source, node = suspect.spot.source, suspect.spot.node
    device = next(in_scope(suspect), None)
    if suspect.wanted is None or device is None or not isinstance(node, ast.expr):
        return []
    if suspect.meets is None or holds(suspect.meets.node, node):
        return []
    if not isinstance(node, ast.Call):
        return [replaced(source, node, device)]
    if argument(node, "device") is not None:
        return [with_argument(source, node, "device", device)]
    statement = statement_of(source, node)
    model = device.removeprefix("next(").split(".")
    name = ".".join(model[: 2 if model[0] == "self" else 1])
    scope = scope_of(source.tree, node)
    inputs = {
        given.id
        for call in calls(scope)
        if dotted(call.func) == name
        for given in call.args
        if isinstance(given, ast.Name)
    }
    if called(node) != "to" or len(node.args) != 1:
        return []
    return [
        replaced(source, call.args[0], device)
        for call in calls(statement)
        if call is node
        or (
            called(call) == "to"
            and [ast.dump(one) for one in call.args] == [ast.dump(one) for one in node.args]
            and isinstance(call.func, ast.Attribute)
            and dotted(call.func.value) in inputs
        )
    ]


def operand(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """An operand from another GPU is moved where it stands, to the device of what it meets; the move that
    sent it there goes to that device."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause == "zero-offload" and isinstance(node, ast.Name | ast.Attribute):
        if (added := _changed_by(source, node)) is not None:
            return [moved(source, added, f"{text_of(source, node)}.device")]
        if _is_joined(source, node, torch):
            return [_each_moved(source, node, '"cpu"')]
        return [around(source, node, "", ".cpu()")]  # to the part that stays there
    if suspect.cause == SHARED:
        return [as_read(suspect)]
    if suspect.cause != "cross-shard-op" or not isinstance(node, ast.expr) or suspect.beside:
        raise Refused("it edits no definition")
    if is_moved(node, torch):
        return elsewhere(suspect, torch)
    if (each := _comprehended(node)) is not None:
        if is_moved(each, torch):
            raise Refused("each of them is moved already")
        return [moved(source, each, target_device(suspect))]
    if called(node) in torch.without_to:
        raise Refused(f"what {called(node)} gives has no .to")
    if _is_joined(source, node, torch):
        return [_each_moved(source, node, target_device(suspect))]
    return [moved(source, node, target_device(suspect))]


def _changed_by(source: Source, node: ast.expr) -> ast.expr | None:
    """The operand by which a method changes a tensor in place; None for a tensor that is only read."""
    match ancestors(source, node)[-3:-1]:
        case [ast.Call(args=[other, *_]) as call, ast.Attribute(attr=name)]:
            alone = isinstance(statement_of(source, node), ast.Expr)
            return other if alone and name.endswith("_") and call.func is not other else None
    return None


def _comprehended(node: ast.expr) -> ast.expr | None:
    """What a comprehension, or the list of one, makes each of its items of; None for other expressions."""
    match node:
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return each
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
            return _comprehended(inner)
    return None


def _is_joined(source: Source, node: ast.expr, torch: TorchNames) -> bool:
    """Whether an expression is the list of what torch joins, or Python adds up."""
    match ancestors(source, node)[-2]:
        case ast.Call(func=ast.Name(id="sum"), args=[listed]):
            return listed is node
        case ast.Call(args=[listed, *_]) as call:
            return listed is node and called(call) in torch.joins
    return False


def _each_moved(source: Source, parts: ast.expr, device: str) -> Change:
    """The change of a list of tensors to one of them on a device: the first one's if no other is known."""
    text = text_of(source, parts)
    if isinstance(parts, ast.List | ast.Tuple):
        raise Refused("the operands are written one by one")
    first = f"{text}[0].device" if device == f"{text}.device" else device
    return replaced(source, parts, f"[part.to({first}) for part in {text}]")


KINDS = {"move-tensor-at-line": operand}
