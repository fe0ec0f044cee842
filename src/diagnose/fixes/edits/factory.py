"""``torch.zeros(n)`` becomes ``torch.zeros(n, device=x.device)`` for an ``x`` that it meets."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.fixes.operands import device_of
from diagnose.scene import calls


def changes(site: Site) -> Sequence[Change]:
    """The first tensor that the failing part makes is made where what it meets is."""
    if not (made := followed(site)):
        raise Refused("the line makes no tensor that meets one whose device it tells")
    return made


def followed(site: Site) -> Sequence[Change]:
    """`changes`; none where the line makes no such tensor."""
    for node in site.met.nodes:
        if isinstance(node, ast.Call) and calls.makes_tensor(node, site.torch):
            device = company(site, node)
            if device is not None:
                return (_made(site, node, device),)
    return ()


def _placed(site: Site, made: ast.Call) -> ast.Call | None:
    """The move that is called of what a factory makes: it would undo a choice of the factory's."""
    for node in site.line.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda")) if owner is made:
                return node
    return None


def _made(site: Site, call: ast.Call, device: str) -> Change:
    text, move = site.text(call), _placed(site, call)
    if move is not None and site.line.whole(move):
        return replaced(site, move, f"{text}.to({device})")
    if not site.line.whole(call) or not text.endswith(")"):
        raise Refused(f"{text} is cut off")
    if calls.name(call) in site.torch.host_factories:
        return replaced(site, call, f"{text}.to({device})")
    comma = ", " if call.args or call.keywords else ""
    return replaced(site, call, f"{text[:-1].rstrip().rstrip(',')}{comma}device={device})")


def company(site: Site, made: ast.expr) -> str | None:
    """The device of what an expression meets: across the operator, in the subscript, in the call."""
    parents = {id(child): node for node in site.line.nodes for child in ast.iter_child_nodes(node)}
    inner: ast.AST = made
    while (outer := parents.get(id(inner))) is not None:
        for other in _beside(outer, inner):
            device = device_of(site, other)
            if device is not None:
                return device
        inner = outer
    return None


def _beside(outer: ast.AST, inner: ast.AST) -> list[ast.expr]:
    """The expressions that take part in the same operation."""
    match outer:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            found = [left, right]
        case ast.Compare(left=left, comparators=others):
            found = [left, *others]
        case ast.Subscript(value=owner, slice=inside):
            found = [owner, inside]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            found = list(elements)
        case ast.Call(func=function, args=given, keywords=named):
            receiver = [function.value] if isinstance(function, ast.Attribute) else []
            found = [*receiver, *given, *(keyword.value for keyword in named)]
        case _:
            found = []
    return [node for node in found if node is not inner]


KINDS = {"create-on-device": changes}
