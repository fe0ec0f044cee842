"""Edits of what an object keeps that is no module, or has nothing else to move: tensors and modules are
brought to their device where they are used, once, and kept there; where the object is made, beside what its
owner moves; or by the object's own ``to``, if it has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.codemods.positions import class_around, statement_of
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.hooks.introspection import attributes, namespace
from diagnose.hooks.non_dispatch import Operand
from diagnose.placement import Device, Spot
from diagnose.placement.semantics import bound_arguments, nodes
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed
from diagnose.tracing.stacks import Line

_TENSOR, _MODULE = "move-tensor-at-line", "move-module"
#: So many running functions hand on what an object keeps.
_UP = 3


def keeping(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, for each operand of the failing call that is on the cpu, and kept by what is no module."""
    yield from _tensors(failure, of_modules=False)


def keeping_in_modules(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits for what is kept by modules that have nothing to move: to be tried when what is registered
    and moved with them did not help."""
    yield from _tensors(failure, of_modules=True)


def _tensors(failure: LiveFailure, *, of_modules: bool) -> Iterator[Proposal]:
    running = failure.running
    for stray, other in failure.pairs if running else ():
        if stray.device != "cpu" or not other.device.startswith("cuda"):
            continue
        at, node, beside = 0, stray.side.node, other.side.node
        while (kept := _kept(node, running[at])) is None and at + 1 < min(len(running), _UP):
            given = _given(running[at], running[at + 1])
            if not isinstance(node, ast.Name) or node.id not in given:
                break
            at, node, beside = at + 1, given[node.id], running[at + 1].spot.node
        if kept is None or not isinstance(kept.value, ast.Name):
            continue
        owner = running[at].value(kept.value)
        if isinstance(owner, torch.nn.Module) != of_modules:
            continue
        if not of_modules:
            yield from _by_itself(running[at:], kept.value, other.device)
        if not of_modules or not [*owner.parameters(), *owner.buffers()]:
            yield from _stored(running[at], kept, beside, other.device)


def _given(function: Running, caller: Running) -> dict[str, ast.expr]:
    """What a running function was given by its caller, by the names of its parameters."""
    scope = function.scope
    return bound_arguments(scope, caller.spot.node) if isinstance(scope, ast.FunctionDef) else {}


def _kept(node: ast.AST, running: Running) -> ast.Attribute | None:
    """The attribute in an expression, if that is a tensor; for a variable, in what it was made of."""
    for one in nodes(running.assigned(node) or node, ast.Attribute):
        if isinstance(running.value(one), torch.Tensor):
            return one
    return None


def _stored(
    running: Running, kept: ast.Attribute, beside: ast.AST, wanted: str
) -> Iterator[Proposal]:
    """``self.table = self.table.to(x.device)`` before the line that takes it to use it with ``x``."""
    holders = (
        one for one in nodes(beside, ast.Name, ast.Attribute) if _is_there(running.value(one))
    )
    known = [f"{ast.unparse(one)}.device" for one in holders if not running.assigned(one)]
    for device in (*known, *_devices(running, wanted))[:1]:
        yield from _set_to_moved(running, statement_of(running.source, kept), kept, device, _TENSOR)


def _is_there(held: object) -> bool:
    return isinstance(held, torch.Tensor) and held.device.type == "cuda"


def _set_to_moved(
    running: Running,
    statement: ast.stmt,
    kept: ast.expr,
    device: str,
    kind: str,
    cause: str = "",
) -> Iterator[Proposal]:
    """The edit that moves what an object keeps, before a statement, and keeps it there."""
    name = ast.unparse(kept)
    stored = (before_statement, statement, f"{name} = {name}.to({device})")
    yield from proposed(kind, running.source, *stored, moves=(name, device), cause=cause)


def _by_itself(running: Sequence[Running], owner: ast.Name, wanted: str) -> Iterator[Proposal]:
    """An object that knows how to move itself is told to where a function is given it."""
    if len(running) < 2 or not _has_method(running[0].value(owner), "to"):
        return
    caller = running[1]
    given = _given(running[0], caller).get(owner.id)
    for device in _devices(caller, wanted) if given is not None else ():
        told = (ast.unparse(given), device) if given is not None else None
        yield from proposed(_TENSOR, caller.source, moved, given, device, moves=told)


def _devices(running: Running, wanted: str) -> list[str]:
    """The device of the first tensor that a function has there."""
    there = (
        f"{name}.device"
        for name, held in list(running.frame.f_locals.items())
        if isinstance(held, torch.Tensor) and str(held.device) == wanted
    )
    return [*there][:1]


def _has_method(one: Any, *names: str) -> bool:
    return any(name in namespace(each) for each in type(one).__mro__ for name in names)


def owned(
    failure: LiveFailure, stray: Operand, spot: Spot, stack: Sequence[Line], wanted: Device | None
) -> Iterator[Proposal]:
    """``self.loss.vgg.to(self.device)`` after ``self.loss = Perceptual()``, where that makes what keeps
    the stray operand's module.

    Args:
        failure: what failed.
        stray: a weight of the module.
        spot: a place that the operand came by.
        stack: how the program came there.
        wanted: where the module has to be.
    """
    layer = stray.life.module.module() if stray.life and stray.life.module else None
    match statement_of(spot.source, spot.node):
        case (
            ast.Assign(
                targets=[ast.Name() | ast.Attribute() as target],
                value=ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind)),
            ) as statement
        ) if isinstance(layer, torch.nn.Module):
            places = [(statement, device) for device in failure.devices(spot, wanted, stack)][:1]
            for name in _keeping(failure, kind, layer):
                what = f"{ast.unparse(target)}.{name}"
                for after, told in (*places, *_moves_beside(spot, target, statement)):
                    beside, moves = (after_statement, after, f"{what}.to({told})"), (what, told)
                    yield from proposed(_MODULE, spot.source, *beside, moves=moves)
                return


def _moves_beside(spot: Spot, target: ast.expr, made: ast.stmt) -> Iterator[tuple[ast.stmt, str]]:
    """The statements in which the object that keeps ``self.x`` moves something else of its own, and where
    to: ``self.model.to(self.device)``, or the loop in which it does so with all of a container."""
    kind = class_around(spot.source, made)
    if kind is None or not ast.unparse(target).startswith("self."):
        return
    for node in nodes(kind, ast.stmt):
        match node:
            case ast.For(
                target=ast.Name(id=each),
                iter=iterated,
                body=[
                    ast.Expr(
                        value=ast.Call(
                            func=ast.Attribute(value=ast.Name(id=moved), attr="to"),
                            args=[ast.Name() | ast.Attribute() as device],
                        )
                    )
                ],
            ) if each == moved and ast.unparse(iterated).startswith("self."):
                yield node, ast.unparse(device)
        match node.value if isinstance(node, ast.Expr | ast.Assign) else None:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")), attr="to"),
                args=[ast.Name() | ast.Attribute() as device],
            ):
                yield node, ast.unparse(device)


def _keeping(failure: LiveFailure, kind: str, layer: torch.nn.Module) -> Iterator[str]:
    """The attributes in which objects of a class that nobody can move keep a module with a layer in it."""
    for frame, _ in failure.lives.alive:
        held = list(frame.f_locals.values())
        for one in (*held, *(part for owner in held for part in attributes(owner).values())):
            if type(one).__name__ == kind and not _has_method(one, "to", "cuda"):
                for name, module in attributes(one).items():
                    if isinstance(module, torch.nn.Module) and layer in [*module.modules()]:
                        yield name
