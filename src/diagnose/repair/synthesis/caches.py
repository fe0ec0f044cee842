"""Edits of what is made once and kept, on the device of that time: it is made anew where that is another
one, or kept for each device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from types import FrameType

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.hooks.replay import Met
from diagnose.hooks.scopes import given_to
from diagnose.placement import Spot
from diagnose.placement.semantics import dotted, names, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.transfers import Move

#: So many lines of a stack are looked at.
_LINES = 6


def renewing(error: BaseException) -> Iterator[Move]:
    """The edits of the conditions, in the running functions, under which an operand is made.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is None:
        return
    texts = found.lives.texts
    alive = [(texts.spot(line), frame) for frame, line in reversed(found.lives.alive)]
    seen = set[int]()
    for place in (found.meeting.spot, *_where_made(found)):
        text = texts.of(place.file)
        function = text.function(place.node) if text is not None else None
        if isinstance(function, ast.FunctionDef) and id(function) not in seen:
            seen.add(id(function))
            yield from _for_each_device(place, function)
    for stray, other in permutations(found.operands, 2):
        for name in _kept(stray.side.node):
            # Of a replica, only the failing line is known, and what it names.
            yield from _edits(found.meeting.spot, texts, name, set(names(other.side.node)))
            for spot, frame in alive:
                if spot is not None:
                    yield from _edits(spot, texts, name, _there(frame, other.device))
        yield from _where_given(found.meeting.spot, texts, stray.side.node, other.side.node)


def _where_made(found: Met) -> Iterator[Spot]:
    """The running lines by which the operands came to be."""
    for one in found.operands:
        for event in one.life.events[:1] if one.life is not None else ():
            yield from filter(None, map(found.lives.texts.spot, event.stack[:_LINES]))


def _for_each_device(spot: Spot, function: ast.FunctionDef) -> Iterator[Move]:
    """The edits of a table in which a function keeps what it makes for its argument's device (``if n not in
    TABLE: TABLE[n] = make(device=x.device)``): the device becomes a part of the key."""
    given = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for node in nodes(function, ast.If):
        match node:
            case ast.If(test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[table])) if (
                isinstance(key, ast.Name | ast.Attribute | ast.Constant)
            ):
                items = [one for one in nodes(function, ast.Subscript) if _is_item(one, table, key)]
                device = next(_told_devices(node, given), None)
                if device is not None and any(isinstance(one.ctx, ast.Store) for one in items):
                    code = f"({text_of(spot.source, key)}, {device})"
                    with suppress(Refused):
                        changes = [replaced(spot.source, key, code)]
                        changes += [replaced(spot.source, one.slice, code) for one in items]
                        edit = file_edit(spot.source, changes)
                        yield Move("use-like-device-of-other", edit)


def _is_item(node: ast.Subscript, table: ast.expr, key: ast.expr) -> bool:
    same = ast.unparse(node.value) == ast.unparse(table)
    return same and ast.unparse(node.slice) == ast.unparse(key)


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


def _edits(spot: Spot, texts: Texts, name: str, beside: set[str]) -> Iterator[Move]:
    """The edits of the conditions in the function around a place: the first argument of those ``beside``
    tells where the thing has to be."""
    text = texts.of(spot.file)
    function = text.function(spot.node) if text is not None else None
    if isinstance(function, ast.FunctionDef):
        yield from _of_conditions(spot, function, name, beside)


def _where_given(spot: Spot, texts: Texts, stray: ast.AST, other: ast.AST) -> Iterator[Move]:
    """The edits in the object's method that gave an operand: ``cos, sin = self.tables(x)``."""
    text = texts.of(spot.file)
    for node in nodes(text.function(spot.node), ast.Assign) if text is not None else ():
        match node:
            case ast.Assign(
                targets=[ast.Name() | ast.Tuple() as bound],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=called)) as call,
            ) if not set(names(stray)).isdisjoint(names(bound)):
                for function in nodes(spot.source.tree, ast.FunctionDef):
                    if function.name == called:
                        given = given_to(function, call)
                        met = set(names(other))
                        beside = {arg for arg, one in given.items() if met & set(names(one))}
                        for name in dict.fromkeys(_kept(function)):
                            yield from _of_conditions(spot, function, name, beside)


def _of_conditions(
    spot: Spot, function: ast.FunctionDef, name: str, beside: set[str]
) -> Iterator[Move]:
    told = next((one.arg for one in function.args.args if one.arg in beside), None)
    for node in nodes(function, ast.If) if told is not None else ():
        if _asks_for(node.test, name):
            code = f"{text_of(spot.source, node.test)} or {name}.device != {told}.device"
            with suppress(Refused):
                edit = file_edit(spot.source, [replaced(spot.source, node.test, code)])
                yield Move("use-like-device-of-other", edit)


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


def _there(frame: FrameType, device: str) -> set[str]:
    """The variables of a running function that are tensors on a device."""
    return {
        name
        for name, held in list(frame.f_locals.items())
        if isinstance(held, torch.Tensor) and str(held.device) == device
    }
