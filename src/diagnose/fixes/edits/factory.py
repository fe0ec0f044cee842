"""``torch.zeros(n)`` becomes ``torch.zeros(n, device=x.device)`` for an ``x`` that it meets."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.fixes.operands import device_of
from diagnose.scene import calls


def changes(site: Site) -> Sequence[Change]:
    """The first tensor that the failing part makes is made where what it meets is, and so are those that it
    makes beside that one."""
    if not (made := followed(site)):
        raise Refused("the line makes no tensor that meets one whose device it tells")
    return made


def followed(site: Site) -> Sequence[Change]:
    """`changes`; none where the line makes no such tensor."""
    for node in site.met.nodes:
        if isinstance(node, ast.Call) and calls.makes_tensor(node, site.torch):
            device = company(site, node)
            if device is not None:
                beside = calls.beside(_parents(site).get(id(node)), node)
                alike = (one for one in beside if calls.makes_tensor(one, site.torch))
                return [
                    _made(site, one, device) for one in (node, *alike) if isinstance(one, ast.Call)
                ]
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


def _parents(site: Site) -> dict[int, ast.AST]:
    return {id(child): node for node in site.line.nodes for child in ast.iter_child_nodes(node)}


def company(site: Site, made: ast.expr) -> str | None:
    """The device of what an expression meets: across the operator, in the subscript, in the call."""
    parents = _parents(site)
    inner: ast.AST = made
    while (outer := parents.get(id(inner))) is not None:
        for other in calls.beside(outer, inner):
            device = device_of(site, other)
            if device is not None:
                return device
        inner = outer
    return None


KINDS = {"create-on-device": changes}
