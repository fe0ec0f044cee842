"""Edits of modules that an object keeps that is no module, and cannot be moved itself: they are moved where
that object is made, beside what its owner moves, or where they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import torch

from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import attributes, namespace
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.hooks.replay import Met
from diagnose.placement import Device, Spot
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.hooked_weights import waits
from diagnose.repair.synthesis.transfers import Move, model_called, own_spots
from diagnose.tracing.stacks import Line


def owned(
    found: Met, stray: Operand, spot: Spot, stack: Sequence[Line], wanted: Device | None
) -> Iterator[Move]:
    """``self.loss.vgg.to(self.device)`` after ``self.loss = Perceptual()``, where that makes what keeps
    the stray operand's module.

    Args:
        found: what met.
        stray: a weight of the module.
        spot: a place that the operand came by.
        stack: how the program came there.
        wanted: where the module has to be.
    """
    text = found.lives.texts.of(spot.file)
    layer = stray.life.module.module() if stray.life and stray.life.module else None
    match text.statement(spot.node) if text is not None else None:
        case (
            ast.Assign(
                targets=[ast.Name() | ast.Attribute() as target],
                value=ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind)),
            ) as statement
        ) if isinstance(layer, torch.nn.Module):
            around = found.lives.scopes.frame(stack) or found.lives.scopes.around(spot)
            device = next(in_scope(around, spot, wanted), None)
            places = [(statement, str(device))] if device is not None else []
            for name in _keeping(found, kind, layer):
                what = f"{ast.unparse(target)}.{name}"
                for after, told in (*places, *_moves_beside(spot, target, statement)):
                    with suppress(Refused):
                        code = f"{what}.to({told})"
                        edit = file_edit(spot.source, [after_statement(spot.source, after, code)])
                        yield Move("move-module", edit, moves=(what, told))
                return


def called_where_kept(error: BaseException) -> Iterator[Move]:
    """``self.teacher = self.teacher.to(x.device)`` before the statement that calls ``self.teacher(x)``,
    where what keeps that model is no module, nothing has moved it before, and no hook waits for its call
    to do so: it moves once.

    Args:
        error: a live failure.
    """
    found, texts = meeting(error), Texts()
    for frame, spot in own_spots(error, texts) if found is not None else ():
        model, text = model_called(spot.node, frame), texts.of(spot.file)
        if (
            model is None
            or model[1] != "cpu"
            or text is None
            or not isinstance(spot.node, ast.Call)
        ):
            continue
        kept, statement = model[0], text.statement(spot.node)
        if not isinstance(kept, ast.Attribute) or not isinstance(statement, ast.stmt):
            continue
        held = value(kept, frame)
        if isinstance(value(kept.value, frame), torch.nn.Module) or any(map(waits, held.modules())):
            continue
        if found is None or found.lives.life_of(held).was_moved():
            continue
        for given in spot.node.args:
            beside = value(given, frame)
            if isinstance(beside, torch.Tensor) and beside.device.type == "cuda":
                name, device = ast.unparse(kept), f"{ast.unparse(given)}.device"
                with suppress(Refused):
                    code = f"{name} = {name}.to({device})"
                    edit = file_edit(spot.source, [before_statement(spot.source, statement, code)])
                    yield Move("move-module", edit, moves=(name, device), cause="module-not-moved")
                break


def forgotten_beside(error: BaseException) -> Iterator[Move]:
    """``self.confusion = self.confusion.to(device)`` after ``self.scores = self.scores.to(device)``, where
    an object moves what it keeps, and not all of it.

    Args:
        error: a live failure.
    """
    found, texts = meeting(error), Texts()
    for frame, spot in own_spots(error, texts) if found is not None else ():
        func = spot.node.func if isinstance(spot.node, ast.Call) else None
        for kept in (func, func.value if isinstance(func, ast.Attribute) else None):
            held = value(kept, frame) if isinstance(kept, ast.Attribute) else None
            if not isinstance(held, torch.nn.Module) or not isinstance(kept, ast.Attribute):
                continue
            own = isinstance(value(kept.value, frame), torch.nn.Module)
            text, name = texts.of(spot.file), ast.unparse(kept)
            statement = text.statement(spot.node) if text is not None else None
            if own or found is None or found.lives.life_of(held).was_moved():
                continue
            if not isinstance(statement, ast.stmt):
                continue
            for after, told in _moves_beside(spot, kept, statement):
                with suppress(Refused):
                    code = f"{name} = {name}.to({told})"
                    if _may_be_none(spot, statement, kept):
                        code = f"if {name} is not None:\n    {code}"
                    edit = file_edit(spot.source, [after_statement(spot.source, after, code)])
                    yield Move("move-module", edit, moves=(name, told))


def _may_be_none(spot: Spot, statement: ast.stmt, kept: ast.Attribute) -> bool:
    """Whether the class around a statement sets an attribute to None, somewhere or under a condition."""
    around, name = class_around(spot.source, statement), ast.unparse(kept)
    for node in nodes(around, ast.Assign) if around is not None else ():
        if name in map(ast.unparse, node.targets):
            value = node.value
            chosen = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            if any(isinstance(one, ast.Constant) and one.value is None for one in chosen):
                return True
    return False


def _moves_beside(spot: Spot, target: ast.expr, made: ast.stmt) -> Iterator[tuple[ast.stmt, str]]:
    """The statements in which the object that keeps ``self.x`` moves something else of its own, and where
    to: ``self.model.to(self.device)``, or the loop in which it does so with all of a container."""
    around = class_around(spot.source, made)
    if around is None or not ast.unparse(target).startswith("self."):
        return
    for node in nodes(around, ast.stmt):
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


def _keeping(found: Met, kind: str, layer: torch.nn.Module) -> Iterator[str]:
    """The attributes in which objects of a class that nobody can move keep a module with a layer in it."""
    for frame, _ in found.lives.alive:
        held = list(frame.f_locals.values())
        for one in (*held, *(part for owner in held for part in attributes(owner).values())):
            if type(one).__name__ == kind and not _moves_itself(one):
                for name, module in attributes(one).items():
                    if isinstance(module, torch.nn.Module) and _holds(module, layer):
                        yield name


def _moves_itself(one: Any) -> bool:
    return any("to" in namespace(each) or "cuda" in namespace(each) for each in type(one).__mro__)


def _holds(module: torch.nn.Module, layer: torch.nn.Module) -> bool:
    return any(one is layer for one in module.modules())
