"""Copies of a model: they are where it was, and stay there when it moves."""

from __future__ import annotations

import ast
import re

from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.model import Step
from diagnose.placement.tensors import Module
from diagnose.placement.values import Const, Frame, Value

#: Classes that keep an averaged copy of the model that they are given, as ``module``.
_AVERAGED = re.compile(r"AveragedModel|ModelE[Mm][Aa]\w*|EMA|ExponentialMovingAverage\w*")


def copied_by(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """The copy that a call of a library makes of a value; None for other calls."""
    first = given.listed[0].value if given.listed else None
    step = machine.step("made", node, frame)
    if dotted in ("copy.deepcopy", "copy.copy"):
        return copied(first, step) if first is not None else None
    last = dotted.rpartition(".")[2]
    if not isinstance(first, Module) or not _AVERAGED.fullmatch(last):
        return None
    found = Module(last, None)
    found.weights, found.steps, found.frame = False, step, frame
    copy = copied(first, step)
    assert isinstance(copy, Module)
    copy.owner, found.children["module"] = found, copy
    said = given.get("device", 1 if last == "AveragedModel" else None)
    if said is not None and not (isinstance(said.value, Const) and said.value.value is None):
        device = machine.asked(said.value)
        for one in copy.family():
            one.device = device if one.weights else one.device
    return found


def copied(value: Value, step: tuple[Step, ...], done: dict[int, Module] | None = None) -> Value:
    """A copy, made by ``step`` or with its own; what it holds twice, the copy does too (``done``)."""
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Module):
        found = done[id(value)] = Module(value.kind, value.device, value.made)
        found.weights, found.steps, found.frame = (
            value.weights,
            (*step, *value.steps[1 if step else 0 :]),
            value.frame,
        )
        found.plain = dict(value.plain)
        found.before, found.hooks = list(value.before), list(value.hooks)
        found.tensors = {k: t.like(t.device) for k, t in value.tensors.items()}
        for name, child in value.children.items():
            inner = copied(child, step, done)
            assert isinstance(inner, Module)
            inner.owner = found
            found.children[name] = inner
        return found
    return value
