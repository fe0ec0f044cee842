"""Edits of where a model is moved away from the state of its optimizer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import NamedTuple

import torch

from diagnose.fixes.codemods.positions import class_around, text_of
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Source, Spot
from diagnose.placement.semantics import nodes
from diagnose.repair.scopes import FUNCTION
from diagnose.repair.synthesis.transfers import Move, own_spots

_MOVES = frozenset({"to", "cuda", "cpu"})


class Step(NamedTuple):
    """A call by which an optimizer steps: its frame and place, its file, how the optimizer is written, and
    that."""

    frame: FrameType
    spot: Spot
    text: Text
    owner: ast.expr
    optimizer: torch.optim.Optimizer


def states(error: BaseException) -> Iterator[Move]:
    """The edits: the state goes after the model, where that is moved in the function that steps, in another
    method of the object that keeps both, or in a function on the way there; else just before the step.

    Args:
        error: a live failure.
    """
    for step in steps(error):
        if (counters := strays(step.optimizer)) is None:
            return
        name, source, node = text_of(step.spot.source, step.owner), step.spot.source, step.spot.node
        here = step.text.function(node)
        moving = [one for one in _moving(here, step.frame) if one.lineno < step.spot.line]
        kept = class_around(source, node) if name.startswith("self.") else None
        others = (one for one in _methods(kept) if one is not here)
        elsewhere = [one for method in others for one in _moving(method, step.frame)]
        for one in (*reversed(moving), *elsewhere):
            change = partial(after_statement, source, one)
            yield from _edit(source, name, counters, change)
        yield from _by_callers(error, step, counters)
        statement = step.text.statement(node)
        if isinstance(statement, ast.stmt):
            change = partial(before_statement, source, statement)
            yield from _edit(source, name, counters, change, stopgap=True)
        return


def _by_callers(error: BaseException, step: Step, counters: bool) -> Iterator[Move]:
    """The edits in the functions on the way to the one that steps: there the model is moved, and the
    optimizer known by another name."""
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        text = texts.of(spot.file)
        if frame is step.frame or text is None:
            continue
        here = text.function(spot.node)
        for one in _moving(here, frame):
            before = one.lineno < spot.line and text.function(one) is here
            for name in _names(step.optimizer, frame) if before else ():
                change = partial(after_statement, spot.source, one)
                yield from _edit(spot.source, name, counters, change)


def _names(optimizer: torch.optim.Optimizer, frame: FrameType) -> Iterator[str]:
    """What a function calls an optimizer: a name, or an attribute of one."""
    for name, held in list(frame.f_locals.items()):
        if held is optimizer:
            yield name
        for attribute, kept in getattr(held, "__dict__", {}).items():
            if kept is optimizer and not isinstance(held, type):
                yield f"{name}.{attribute}"


def steps(error: BaseException) -> Iterator[Step]:
    """The running calls, in the user's lines, by which optimizers step."""
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        text = texts.of(spot.file)
        match spot.node:
            case ast.Call(func=ast.Attribute(attr="step", value=owner)) if text is not None:
                held = value(owner, frame)
                if isinstance(held, torch.optim.Optimizer):
                    yield Step(frame, spot, text, owner, held)


def strays(optimizer: torch.optim.Optimizer) -> bool | None:
    """Whether some state is apart from its parameter, counters of steps too; None where none is. Those
    are left where they are, unless they fail."""
    apart = [
        held.dim()
        for parameter, state in optimizer.state.items()
        for held in (state.values() if isinstance(state, dict) else ())
        if isinstance(held, torch.Tensor) and held.device != parameter.device
    ]
    return None if not apart else not any(apart)


def _methods(kind: ast.ClassDef | None) -> list[ast.stmt]:
    """The methods of a class, none without one."""
    return [one for one in kind.body if isinstance(one, FUNCTION)] if kind is not None else []


def _moving(function: ast.AST, frame: FrameType) -> Iterator[ast.Expr | ast.Assign]:
    """The statements of a function that move a module which a running one knows by the same name."""
    for one in nodes(function, ast.Expr, ast.Assign):
        match one.value:
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in _MOVES:
                bound = one.targets if isinstance(one, ast.Assign) else [owner]
                same = [ast.unparse(to) for to in bound] == [ast.unparse(owner)]
                if same and isinstance(value(owner, frame), torch.nn.Module):
                    yield one


def _edit(
    source: Source,
    optimizer: str,
    counters: bool,
    change: Callable[[str], Change],
    *,
    stopgap: bool = False,
) -> Iterator[Move]:
    """The edit that writes a loop over the state where ``change`` writes a statement."""
    kept = 'hasattr(value, "to")' if counters else 'key != "step" and hasattr(value, "to")'
    code = (
        f"for param, state in {optimizer}.state.items():\n"
        f"    for key, value in state.items():\n"
        f"        if {kept}:\n"
        f"            state[key] = value.to(param.device)"
    )
    with suppress(Refused):
        edit = file_edit(source, [change(code)])
        yield Move("move-optimizer-state", edit, stopgap, cause="optimizer-state")
