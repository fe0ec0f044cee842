"""Edits of what is made once and kept, on the device of that time: it is made anew where that is another
one, or kept for each device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.codemods.replica_caches import asked_anew
from diagnose.fixes.file_gate import Change
from diagnose.hooks.scopes import given_to
from diagnose.placement import Source, Spot
from diagnose.placement.semantics import dotted, names, nodes, scope_of
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed

_KIND = "use-like-device-of-other"
#: So many lines of a stack are looked at.
_LINES = 6


def renewing(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of the conditions, in the running functions, under which an operand is made."""
    if not failure.operands:
        return
    spot = failure.spot
    made = {id(scope): (place, scope) for place in _places(failure) for scope in _scope(place)}
    for place, function in made.values():
        yield from _for_each_device(place.source, function)
    for stray, other in failure.pairs:
        met = set(names(other.side.node))
        for name in _kept(stray.side.node):
            # Of a replica, only the failing line is known, and what it names.
            yield from _edits(spot, name, met)
            for running in failure.running:
                yield from _edits(running.spot, name, _there(running, other.device))
        yield from _where_given(spot, stray.side.node, met)


def _scope(place: Spot) -> list[ast.FunctionDef]:
    """The function around a place, if it is in one."""
    scope = scope_of(place.source.tree, place.node)
    return [scope] if isinstance(scope, ast.FunctionDef) else []


def _places(failure: LiveFailure) -> Iterator[Spot]:
    """Where the operands met, and the running lines by which they came to be."""
    yield failure.spot
    for one in failure.operands:
        for event in one.life.events[:1] if one.life is not None else ():
            yield from filter(None, map(failure.texts.spot, event.stack[:_LINES]))


def _for_each_device(source: Source, function: ast.FunctionDef) -> Iterator[Proposal]:
    """The edits of a table in which a function keeps what it makes for its argument's device (``if n not in
    TABLE: TABLE[n] = make(device=x.device)``): the device becomes a part of the key."""
    given = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for node in nodes(function, ast.If):
        match node:
            case ast.If(test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[table])) if (
                isinstance(key, ast.Name | ast.Attribute | ast.Constant)
            ):
                item = f"{ast.unparse(table)}[{ast.unparse(key)}]"
                items = [one for one in nodes(function, ast.Subscript) if ast.unparse(one) == item]
                device = next(_told_devices(node, given), None)
                if device is not None and any(isinstance(one.ctx, ast.Store) for one in items):
                    keys = [key, *(one.slice for one in items)]
                    yield from proposed(_KIND, source, _keyed, keys, device)


def _keyed(source: Source, keys: list[ast.expr], device: str) -> list[Change]:
    return [replaced(source, one, f"({text_of(source, keys[0])}, {device})") for one in keys]


def _told_devices(node: ast.If, given: set[str]) -> Iterator[str]:
    """The devices on which something is made in a branch, told by the function's arguments alone."""
    for one in nodes(node, ast.keyword, ast.Call, ast.Name):
        match one:
            case (
                ast.keyword(arg="device", value=device)
                | ast.Call(func=ast.Attribute(attr="to"), args=[device])
            ) if (named := set(names(device))) and named <= given - {"self"}:
                yield ast.unparse(device)
            case ast.Name(id=name) if name in given and name.endswith("device"):
                yield name


def _edits(spot: Spot, name: str, beside: set[str]) -> Iterator[Proposal]:
    """The edits of the conditions in the function around a place: the first argument of those ``beside``
    tells where the thing has to be."""
    return chain.from_iterable(_asked(spot.source, one, name, beside) for one in _scope(spot))


def _where_given(spot: Spot, stray: ast.AST, met: set[str]) -> Iterator[Proposal]:
    """The edits in the object's method that gave an operand: ``cos, sin = self.tables(x)``."""
    for node in nodes(scope_of(spot.source.tree, spot.node), ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Name() | ast.Tuple() as bound],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=called)) as call,
            ) if not set(names(stray)).isdisjoint(names(bound)):
                for function in nodes(spot.source.tree, ast.FunctionDef):
                    if function.name == called:
                        given = given_to(function, call)
                        beside = {arg for arg, one in given.items() if met & set(names(one))}
                        for name in dict.fromkeys(_kept(function)):
                            yield from _asked(spot.source, function, name, beside)


def _asked(
    source: Source, function: ast.FunctionDef, name: str, beside: set[str]
) -> Iterator[Proposal]:
    told = next((one.arg for one in function.args.args if one.arg in beside), None)
    for node in nodes(function, ast.If) if told is not None else ():
        if _asks_for(node.test, name):
            yield from proposed(_KIND, source, asked_anew, node, name, f"{told}.device")


def _kept(node: ast.AST) -> Iterator[str]:
    """What an expression takes from its object."""
    for one in nodes(node, ast.Attribute):
        match one:
            case ast.Attribute(value=ast.Name(id="self")):
                yield ast.unparse(one)


def _asks_for(test: ast.expr, name: str) -> bool:
    """Whether a condition asks first whether something is None, and then nothing but other reasons."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=[first, *_]):
            return _asks_for(first, name)
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return dotted(left) == name
    return False


def _there(running: Running, device: str) -> set[str]:
    """The variables of a running function that are tensors on a device."""
    return {
        name
        for name, held in list(running.frame.f_locals.items())
        if isinstance(held, torch.Tensor) and str(held.device) == device
    }
