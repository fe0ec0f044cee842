"""What the same fix mends beside a suspect: it would fail next, for the same reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods.positions import block_of, class_around, statement_of
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Spot, Suspect
from diagnose.placement.semantics import (
    bound,
    called,
    calls_around,
    dotted,
    names,
    nodes,
    scope_of,
)

#: Causes that come one by one: of two such values that meet either may be meant.
_EITHER = frozenset({"cross-shard-op", "input-on-wrong-shard", "optimizer-state", "rank-device"})
#: Causes of which one mistake is seen where a method adds something, and where that is called.
_WHERE_IT_GROWS = frozenset({"submodule-added-after-move"})
_MOST = 8


def twins(suspect: Suspect, suspects: Sequence[Suspect], torch: TorchNames) -> tuple[Suspect, ...]:
    """The others of a cause's suspects that are misplaced as the first one is, and what is set or moved
    beside it in the same way.

    Args:
        suspect: what is mended.
        suspects: all that are known of the program.
        torch: what torch and its libraries call their things.
    """
    if suspect.cause in _EITHER:
        return ()
    others = [
        one
        for one in suspects
        if (one.cause, one.device, one.sure) == (suspect.cause, suspect.device, True)
        and one.spot.source is suspect.spot.source
        and one.spot.node is not suspect.spot.node
        and (suspect.cause not in _WHERE_IT_GROWS or _scope(one) is _scope(suspect))
        and class_around(one.spot.source, one.spot.node)
        is class_around(suspect.spot.source, suspect.spot.node)
        and not _is_made_by(one, suspect)
    ]
    more = {
        "unregistered-tensor": _plain_tensors,
        "hardcoded-device": _bare_moves,
        "host-copy-needed": _taken_beside,
    }
    if (find := more.get(suspect.cause)) is not None:
        known = {id(one.spot.node) for one in (suspect, *others)}
        others += [one for one in find(suspect, torch) if id(one.spot.node) not in known]
    by_place = {id(one.spot.node): one for one in others}
    return tuple(by_place.values())[:_MOST]


def _is_made_by(one: Suspect, suspect: Suspect) -> bool:
    """Whether what one suspect is comes back by the call that the other is: that is mended there."""
    made = suspect.spot.node
    made_by = called(made.value if isinstance(made, ast.Assign) else made)
    return getattr(_scope(one), "name", None) == made_by and _scope(suspect) is not _scope(one)


def _scope(suspect: Suspect) -> ast.AST:
    """The function that a suspect stands in, or the module."""
    return scope_of(suspect.spot.source.tree, suspect.spot.node)


def _bare_moves(suspect: Suspect, _: TorchNames) -> Iterator[Suspect]:
    """The other calls of ``.cuda()`` in the function of one: they move to the current device, too."""
    source, node = suspect.spot.source, suspect.spot.node
    if not _is_bare(node):
        return
    for other in calls_around(source.tree, node):
        if other is not node and _is_bare(other):
            yield suspect._replace(name=ast.unparse(other), spot=Spot(source, other))


def _taken_beside(suspect: Suspect, _: TorchNames) -> Iterator[Suspect]:
    """The other calls of ``.numpy()`` in the function of one whose tensors come of the same name, or of the
    same statement: they are where that is."""
    source, node, scope = suspect.spot.source, suspect.spot.node, _scope(suspect)
    if called(node) != "numpy":
        return
    of = {name for each in names(node) for name in _bound_with(scope, each)}
    for other in calls_around(source.tree, node):
        if other is not node and called(other) == "numpy" and of & set(names(other)):
            yield suspect._replace(name=ast.unparse(other), spot=Spot(source, other))


def _bound_with(scope: ast.AST, name: str) -> Iterator[str]:
    """A name, and those that the statements bind that bind it."""
    yield name
    for one in bound(scope, name):
        for target in getattr(one.by, "targets", ()):
            yield from names(target)


def _is_bare(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cuda"
        and not (node.args or node.keywords)
    )


def _plain_tensors(suspect: Suspect, torch: TorchNames) -> Iterator[Suspect]:
    """The other tensors that are set beside an attribute, used in its class and moved nowhere."""
    source, node = suspect.spot.source, suspect.spot.node
    try:
        statement = statement_of(source, node)
        owner, block = class_around(source, statement), block_of(source, statement)
    except Refused:
        return
    if owner is None:
        return
    for other in block:
        match other:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)]):
                if other is statement or not _is_used(owner, name, torch):
                    continue
                if _is_made(other.value, torch):
                    yield suspect._replace(name=f"self.{name}", spot=Spot(source, other))


def _is_made(value: ast.expr, torch: TorchNames) -> bool:
    """Whether a value is made by a function of torch that was told no device, and was not moved since."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        told = any(keyword.arg == "device" for keyword in value.keywords)
        if told or value.func.attr in torch.moves:
            return False
        if (dotted(value.func) or "").startswith("torch."):
            return value.func.attr in torch.factories
        value = value.func.value
    return False


def _is_used(owner: ast.ClassDef, name: str, torch: TorchNames) -> bool:
    """Whether a class uses an attribute beside its assignment, and nowhere moves it or sets it anew."""
    used = False
    for node in nodes(owner, ast.Attribute, ast.Subscript):
        match node:
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="self"), attr=attr), attr=method
            ):
                if attr == name and method in torch.moves:
                    return False
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=context):
                used = used or (attr == name and isinstance(context, ast.Load))
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
                used = used or attr == name
    return used
