"""Edits of where a model is apart from the state of its optimizer: the state goes after the model, or the
model to its device before an optimizer is made that keeps state from its first moment."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch

from diagnose.fixes.codemods.order import model_of
from diagnose.fixes.codemods.positions import class_around, text_of
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.file_gate import Change
from diagnose.hooks.operands import assigned
from diagnose.placement import Source
from diagnose.placement.semantics import (
    Function,
    bindings_by,
    calls,
    dotted,
    names,
    nodes,
    parameters,
    scope_of,
    stored_attributes,
)
from diagnose.placement.semantics import (
    assigned as statements_binding,
)
from diagnose.repair.patch import move_of
from diagnose.repair.scopes import FUNCTION
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed

_CAUSE = "optimizer-state"
_Beside = Callable[[Source, ast.stmt, str], Change]


class _Step(NamedTuple):
    """A running call by which an optimizer steps that has some state apart from its parameter: how it is
    written, and it; ``counters``: what is apart are counters of steps. Those are left where they are,
    unless they fail."""

    running: Running
    owner: ast.expr
    optimizer: torch.optim.Optimizer
    counters: bool


def preceding(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, in the file of the line that steps: the model is moved by what the program brings it to
    its device with later."""
    for step in _steps(failure)[:1]:
        source = step.running.source
        for made in statements_binding(source.tree, ast.unparse(step.owner)):
            model = model_of(made)
            for move in dict.fromkeys(_moves(source, model, made) if model else ()):
                code = f"{model}.{move}"
                before = (before_statement, made, code)
                yield from proposed("reorder-move-after-build", source, *before, cause=_CAUSE)


def states(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: the state goes after the model, where that is moved in the function that steps, in another
    method of the object that keeps both, or in a function on the way there; else just before the step."""
    for step in _steps(failure)[:1]:
        running = step.running
        name, source, here = text_of(running.source, step.owner), running.source, running.scope
        moving = [one for one in _moving(here, running) if one.lineno < running.spot.line]
        kept = class_around(source, running.spot.node) if name.startswith("self.") else None
        methods = [one for one in (kept.body if kept else ()) if isinstance(one, FUNCTION)]
        elsewhere = [one for each in methods if each is not here for one in _moving(each, running)]
        for one in (*reversed(moving), *elsewhere):
            yield from _brought(step, source, name, after_statement, one)
        for caller in failure.running:
            if caller.frame is not running.frame:
                yield from _by_caller(step, caller)
        yield from _brought(step, source, name, before_statement, running.statement, stopgap=True)


def _by_caller(step: _Step, caller: Running) -> Iterator[Proposal]:
    """The edits in a function on the way to the one that steps: there the model is moved, and the optimizer
    known by another name."""
    for one in _moving(caller.scope, caller):
        before = one.lineno < caller.spot.line
        if before and scope_of(caller.source.tree, one) is caller.scope:
            for name in _names(step.optimizer, caller):
                yield from _brought(step, caller.source, name, after_statement, one)


def _names(optimizer: torch.optim.Optimizer, running: Running) -> Iterator[str]:
    """What a function calls an optimizer: a name, or an attribute of one."""
    for name, held in list(running.frame.f_locals.items()):
        if held is optimizer:
            yield name
        for attribute, kept in getattr(held, "__dict__", {}).items():
            if kept is optimizer and not isinstance(held, type):
                yield f"{name}.{attribute}"


def _steps(failure: LiveFailure) -> list[_Step]:
    found = []
    for running in failure.running:
        match running.spot.node:
            case ast.Call(func=ast.Attribute(attr="step", value=owner)):
                held = running.value(owner)
                apart = _apart(held) if isinstance(held, torch.optim.Optimizer) else []
                if apart:
                    found.append(_Step(running, owner, held, not any(apart)))
    return found


def _apart(optimizer: torch.optim.Optimizer) -> list[int]:
    """The dimensions of what is not with the parameter whose state it is."""
    return [
        held.dim()
        for parameter, state in optimizer.state.items()
        for held in (state.values() if isinstance(state, dict) else ())
        if isinstance(held, torch.Tensor) and held.device != parameter.device
    ]


def _moving(function: ast.AST, running: Running) -> Iterator[ast.Expr | ast.Assign]:
    """The statements of a function that move a module which a running one knows by the same name."""
    for one in nodes(function, ast.Expr, ast.Assign):
        match move_of(one.value):
            case ast.Call(func=ast.Attribute(value=owner)):
                bound = one.targets if isinstance(one, ast.Assign) else [owner]
                same = [ast.unparse(to) for to in bound] == [ast.unparse(owner)]
                if same and isinstance(running.value(owner), torch.nn.Module):
                    yield one


def _brought(
    step: _Step,
    source: Source,
    optimizer: str,
    beside: _Beside,
    statement: ast.stmt,
    *,
    stopgap: bool = False,
) -> Iterator[Proposal]:
    """The edit that writes a loop over the state beside a statement."""
    kept = 'hasattr(value, "to")' if step.counters else 'key != "step" and hasattr(value, "to")'
    code = (
        f"for param, state in {optimizer}.state.items():\n"
        f"    for key, value in state.items():\n"
        f"        if {kept}:\n"
        f"            state[key] = value.to(param.device)"
    )
    loop = (beside, statement, code)
    yield from proposed("move-optimizer-state", source, *loop, stopgap=stopgap, cause=_CAUSE)


def _moves(source: Source, model: str, made: ast.Assign) -> Iterator[str]:
    """How the program moves a model later, as it can be said where the optimizer is made."""
    for node in calls(source.tree, "cuda", "to"):
        match node:
            case ast.Call(func=ast.Attribute(value=owner), keywords=[]) if (
                ast.unparse(owner) != model
            ):
                pass
            case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]):
                yield "cuda()"
            case ast.Call(func=ast.Attribute(attr="to"), args=[given], keywords=[]):
                yield from (f"to({told})" for told in _told(source, given, made))


def _told(source: Source, device: ast.expr, made: ast.Assign) -> Iterator[str]:
    """A device in the words of the function that makes the optimizer; a name of another function's by what
    that was bound to."""
    here, there = scope_of(source.tree, made), scope_of(source.tree, device)
    if isinstance(device, ast.Name) and here is not there:
        device = assigned(device, there, device.lineno) or device
    known = {"torch", *_bound(source.tree, made.lineno), *_bound(here, made.lineno)}
    known |= {one.arg for one in parameters(here)} if isinstance(here, Function) else set()
    own = {ast.unparse(one) for one in stored_attributes(here) if one.lineno < made.lineno}
    kept = {ast.unparse(one) for one in nodes(device, ast.Attribute) if dotted(one.value) == "self"}
    if known.issuperset(names(device)) and own.issuperset(kept):
        yield ast.unparse(device).replace("'", '"')


def _bound(scope: Function | ast.Module, line: int) -> set[str]:
    """The names that a scope's own statements bind above a line."""
    found = (one for row in scope.body if row.lineno < line for one in bindings_by(row))
    return {name for one in found if (name := dotted(one.target))}
