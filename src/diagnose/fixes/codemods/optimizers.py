"""State of an optimizer: made anew behind the move, or moved where a program puts it in."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnose.fixes.codemods.expressions import around, replaced
from diagnose.fixes.codemods.positions import block_of, statement_of, text_of
from diagnose.fixes.codemods.statements import after_statement, moved_statement
from diagnose.fixes.codemods.transfers import receiver
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import (
    assigned,
    bound_names,
    called,
    calls,
    dotted,
    mentions,
    reads,
    scope_of,
)
from diagnose.placement.syntax_patterns import copied

#: Questions whether something is a tensor.
_ASKING = re.compile(r"(\w+\.)*is_tensor\(|isinstance\(.*Tensor|hasattr\(")


def remade(suspect: Suspect, torch: TorchNames) -> list[Change]:
    """The change that makes an optimizer anew behind the statement that moves its model, of which its steps
    have made a state before; none where the suspect is no move."""
    source, node = suspect.spot.source, suspect.spot.node
    if not is_late_move(suspect, torch) or suspect.owner is None:
        return []
    move = statement_of(source, node)
    scope = scope_of(source.tree, move)
    made = [one for one in assigned(scope, suspect.owner) if one.lineno < move.lineno]
    if not made:  # it is made elsewhere: what it loads of itself comes to where each weight is
        code = f"{suspect.owner}.load_state_dict({suspect.owner}.state_dict())"
        return [after_statement(source, move, code)]
    last = max(made, key=lambda one: one.lineno)
    if last.end_lineno != last.lineno:
        raise Refused("the statement that makes the optimizer runs over several lines")
    return [after_statement(source, move, text_of(source, last))]


def is_late_move(suspect: Suspect, torch: TorchNames) -> bool:
    """Whether a suspect is the move of a model, which comes after steps of its optimizer."""
    node = suspect.spot.node
    return suspect.cause == "optimizer-state" and _method(node) in torch.moves


def _method(node: ast.AST) -> str:
    """The name of the method that a node calls; empty for other nodes."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return called(node) if is_method else ""


def remembered(suspect: Suspect) -> list[Change]:
    """The change that brings what a program puts into an optimizer's state to where the weight is whose
    state it is; none where the suspect puts nothing there."""
    source, node = suspect.spot.source, suspect.spot.node
    weight = put_for(suspect)
    if weight is None:
        return []
    device = f".to({weight}.device)"
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Subscript(), slice=key)], value=value):
            return [_brought(source, value, device, sure=isinstance(key, ast.Constant))]
        case (
            ast.Assign(value=ast.DictComp(value=value)) | ast.Call(args=[ast.DictComp(value=value)])
        ):
            return [_brought(source, value, device, sure=False)]
        case ast.Assign(value=value) | ast.Call(args=[value]):
            return [_all_brought(source, value, weight)]
    return []


def _all_brought(source: Source, value: ast.expr, weight: str) -> Change:
    """A dict that a weight gets as a whole, as one of which each tensor is brought to the weight."""
    match value:
        case ast.Call(func=ast.Name(id="dict"), args=[ast.Name() | ast.Subscript() as held]):
            pass
        case ast.Name() | ast.Subscript() as held:
            pass
        case ast.Call() as held if copied(held) is not None:
            pass
        case _:
            raise Refused("it is not seen which of what it puts there are tensors")
    key, one = ("key", "value") if weight in ("k", "v") else ("k", "v")
    each = f'{one}.to({weight}.device) if hasattr({one}, "to") else {one}'
    code = f"{{{key}: {each} for {key}, {one} in {text_of(source, held)}.items()}}"
    return replaced(source, value, code)


def _brought(source: Source, value: ast.expr, device: str, *, sure: bool) -> Change:
    """One value of a weight's state as what is brought to the weight: where it may be a number, as well,
    only if it is a tensor."""
    match value:
        case ast.IfExp(test=ast.Call() as asked, body=each) if _ASKING.match(ast.unparse(asked)):
            return _brought(source, each, device, sure=True)
        case ast.IfExp():
            raise Refused("it is not seen which of what it puts there are tensors")
        case ast.Call(args=[held]) if copied(value) is held:
            return _brought(source, held, device, sure=sure)
    if sure or not isinstance(value, ast.Name | ast.Subscript):
        return around(source, value, "", device)
    text = text_of(source, value)
    return replaced(source, value, f'{text}{device} if hasattr({text}, "to") else {text}')


def put_for(suspect: Suspect) -> str | None:
    """The weight for which a statement puts something into an optimizer's state; None for others."""
    target: ast.AST | None = None
    match suspect.spot.node:
        case ast.Assign(targets=[ast.Subscript() as target]):
            target = target.value if isinstance(target.value, ast.Subscript) else target
        case ast.Call(func=ast.Attribute(value=target, attr="update")):
            pass
    match target:
        case ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name(id=name)):
            return name
    return None


def behind(
    source: Source, made: ast.stmt, owner: str | None, torch: TorchNames
) -> Sequence[Change]:
    """The changes by which an optimizer is made behind what moves its model under a condition, or what
    prepares it goes before; none where neither stands further below."""
    bound = [name for target in getattr(made, "targets", []) if (name := dotted(target))]
    block = block_of(source, made)
    first = next(n for n, one in enumerate(block) if one is made)
    for position, one in enumerate(block[first + 1 :], first + 1):
        if isinstance(one, ast.If) and any(_moves(call, owner, torch) for call in calls(one)):
            between = block[first + 1 : position + 1]
            if any(mentions(each, *bound) for each in between):
                raise Refused("the optimizer is used before the model is moved")
            return moved_statement(source, made, one, after=True)
        if any(_prepares(call, owner) for call in calls(one)) and not mentions(one, *bound):
            between = block[first + 1 : position]
            if any(reads(one, name) for each in between for name in bound_names(each)):
                raise Refused("what prepares the model needs what comes before it")
            return moved_statement(source, one, made, after=False)
    return []


def _moves(call: ast.Call, owner: str | None, torch: TorchNames) -> bool:
    return _method(call) in torch.moves and receiver(call) == owner


def _prepares(call: ast.Call, owner: str | None) -> bool:
    given = {dotted(one) for one in call.args}
    return _method(call) == "prepare" and owner is not None and owner in given
