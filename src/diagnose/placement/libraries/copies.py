"""Copies of a model: they are where it was, and stay there when it moves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.machine import Meets
from diagnose.placement.model import Step
from diagnose.placement.tensors import Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Frame, Function, Value

#: Their methods that bring it nearer to the model.
_AVERAGING = re.compile(r"step|update")
#: Classes that keep an averaged copy of the model that they are given, as ``module``.
_AVERAGED = re.compile(r"AveragedModel|ModelE[Mm][Aa]\w*|EMA(Model)?|ExponentialMovingAverage\w*")


#: Of them those that are modules: their ``to`` gives them back.
_MOVABLE = re.compile(r"AveragedModel|ModelE[Mm][Aa]\w*")


def copy_of(call: CallSite) -> Value | None:
    """A copy of what a call is given, or of its owner."""
    value = call.owner or call.first
    return copied(value, call.step(EventKind.MADE), call.frame) if value is not None else None


def averaged_copy(call: CallSite) -> Value | None:
    """What keeps an averaged copy of the model that it is given, as ``module``; None of other values."""
    step, model = call.step(EventKind.MADE), _model_of(call.first)
    if model is None:
        return None
    found = Module(call.last, None)
    found.weights, found.steps, found.frame = False, step, call.frame
    copy = copied(model, step, call.frame)
    assert isinstance(copy, Module)
    copy.owner, found.children["module"] = found, copy
    if (said := call.argument("device")) is not None:
        device = call.machine.asked(said.value)
        found.plain["device"] = said.value
        for one in copy.family():
            one.device = device if one.weights else one.device
    return found


def averages(module: Module) -> bool:
    """Whether a module keeps an averaged copy of another one, and can be moved where it is made."""
    return _MOVABLE.fullmatch(module.kind) is not None


def _model_of(value: Value | None) -> Module | None:
    """A model, or the one whose parameters are given."""
    weight = value.more if isinstance(value, Items) else None
    return (
        weight.module
        if isinstance(weight, Tensor) and weight.maker == Origin.WEIGHT
        else (value if isinstance(value, Module) else None)
    )


def averaged(owner: Module, call: CallSite) -> bool:
    """Notes that an averaged copy is brought nearer to the model, by a method that does so."""
    model = _model_of(call.first)
    if model is None or not _AVERAGED.fullmatch(owner.kind) or not _AVERAGING.match(call.name):
        return False
    copy = owner.children.get("module")
    if owner.kind == "AveragedModel" or "device" in owner.plain:
        return True  # it brings the model's weights to its own
    sides = [Meets(call.node, one, weight_of(one)) for one in (copy, model) if one is not None]
    call.meet(ConstraintKind.JOIN, sides)
    return True


def copied(
    value: Value,
    step: tuple[Step, ...],
    frame: Frame | None = None,
    done: dict[int, Module] | None = None,
) -> Value:
    """A copy, made by ``step`` among the variables of a call, or with the original's; what it holds twice,
    the copy does too (``done``)."""
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Module):
        life = value.steps[1 if step else 0 :]
        if step and not done:  # it is in nothing that the original is in
            life = tuple(one for one in life if one.what not in (EventKind.HELD, EventKind.PUT))
        found = done[id(value)] = Module(value.kind, value.device, value.made)
        found.weights, found.steps = value.weights, (*step, *life)
        found.frame = frame or value.frame
        found.plain, found.buffers = dict(value.plain), set(value.buffers)
        found.unsaved = set(value.unsaved)
        found.before, found.hooks = list(value.before), list(value.hooks)
        found.tensors = {k: t.like(t.device) for k, t in value.tensors.items()}
        for name, child in value.children.items():
            inner = copied(child, step, frame, done)
            assert isinstance(inner, Module)
            inner.owner = found
            found.children[name] = inner
        found.plain = {name: _again(one, done) for name, one in found.plain.items()}
        return found
    return value


def _again(value: Value, done: Mapping[int, Module]) -> Value:
    """A method, list or dict of a module as its copy keeps it: of the layers that are registered, too, the
    copies."""
    if isinstance(value, Function) and value.this is not None:
        return value.bound(done.get(id(value.this), value.this))
    found: Items | Table
    if isinstance(value, Items):
        found = Items([done.get(id(one), one) for one in value.items], None, value.kind)
        found.grows = value.grows
    elif isinstance(value, Table):
        found = Table({key: done.get(id(one), one) for key, one in value.items.items()})
    else:
        return value
    found.more = value.more and done.get(id(value.more), value.more)
    found.keeper, found.steps, found.frame = value.keeper, value.steps, value.frame
    return found
