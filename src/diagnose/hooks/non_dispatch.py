"""Failures that are no call of torch's: what met there is found in the frames."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from diagnose.hooks import operand_expressions
from diagnose.hooks.introspection import attributes, device_of, entries, is_a, items, shape_of
from diagnose.hooks.live_values import Lives
from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import Spot, Step
from diagnose.placement.devices import SPLIT, written
from diagnose.placement.machine import Meets
from diagnose.placement.tensors import Tensor
from diagnose.tracing.lives import Life
from diagnose.tracing.stacks import Line, is_own


class Running(NamedTuple):
    """A frame of the traceback, and the instruction that it stands at."""

    frame: FrameType
    line: Line


class Operand(NamedTuple):
    """What met: its side of the meeting, where it is as torch prints it, its sizes; the live thing and its
    life, where that is known; ``exact``: the side's expression is known to hold it."""

    side: Meets
    device: str
    shape: tuple[int, ...]
    thing: Any = None
    life: Life | None = None
    exact: bool = False


def _of_live(side: Meets, tensor: Any, lives: Lives) -> Operand:
    life = lives.recorder.tensors.get(tensor)
    return Operand(side, device_of(tensor) or "?", shape_of(tensor), tensor, life)


def of_optimizer(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """An optimizer's state that is not with its parameter."""
    for one in reversed(frames):
        owner = (
            one.frame.f_locals.get("self") if "/torch/optim/" in one.line.code.co_filename else None
        )
        if owner is None or not is_a(owner, lives.torch.optim.Optimizer):
            continue
        for parameter, values in list(dict.items(attributes(owner).get("state") or {})):
            for _, state in items(values):
                if not is_a(state, lives.tensor) or not state.dim():
                    continue
                if lives.device(state) != lives.device(parameter):
                    weight = lives.tensor_value(parameter)
                    stray = lives.tensor_value(state)
                    stray.maker, stray.module = (
                        Origin.STATE,
                        weight.module and weight.module.whole(),
                    )
                    return ConstraintKind.STATE, [
                        _of_live(Meets(spot.node, stray, stray), state, lives),
                        _of_live(Meets(spot.node, weight, weight), parameter, lives),
                    ]
    return None


def of_own_optimizer(frames: Sequence[Running], lives: Lives, operands: Sequence[Operand]) -> bool:
    """Marks operands that the optimizer whose step fails keeps as its state; whether there are such."""
    owner = _optimizer_of(frames, lives)
    if owner is None:
        return False
    parameters: list[Any] = []
    kept: list[Any] = []
    for _, group in items(attributes(owner).get("param_groups")):
        for name, value in entries(group):
            (parameters.extend if name == "params" else kept.extend)(one for _, one in items(value))
            kept.append(value)
    for values in dict.values(attributes(owner).get("state") or {}):
        kept += [value for _, value in items(values)]
    state = {id(one) for one in kept if is_a(one, lives.tensor)}
    module = next((lives.tensor_value(one).module for one in parameters), None)
    found = False
    for one in operands:
        sharing = {id(value) for value in lives.holders.alike(one.thing, one.life)}
        if module is not None and sharing & state and not any(one.thing is p for p in parameters):
            one.side.tensor.maker, one.side.tensor.module = Origin.STATE, module.whole()
            found = True
    return found


def _optimizer_of(frames: Sequence[Running], lives: Lives) -> Any:
    """The optimizer whose own method fails: within its step a model may run, too."""
    for one in reversed(frames):
        owner = one.frame.f_locals.get("self")
        if is_a(owner, lives.torch.optim.Optimizer):
            return owner
        if is_a(owner, lives.torch.nn.Module):
            return None
    return None


def of_generator(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """A generator that a function of a library refuses before it draws with it."""
    innermost = frames[-1].frame
    for one in innermost.f_locals.values() if not is_own(innermost.f_code) else ():
        if is_a(one, lives.torch._C.Generator):
            node = operand_expressions.node_of(lives, one, spot)
            made = lives.generator(str(one.device), one, node)
            drawn = Tensor(made.device, Origin.GENERATOR, made.steps, made.frame)
            side = Meets(node or spot.node, made, drawn)
            return ConstraintKind.GENERATOR, [
                Operand(side, str(one.device), (), one, exact=node is not None)
            ]
    return None


def of_wrapper(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """A DataParallel whose module is not on its first device."""
    innermost = frames[-1].frame
    owner = innermost.f_locals.get("self")
    if innermost.f_code.co_name != "forward" or not is_a(owner, lives.torch.nn.DataParallel):
        return None
    inner = dict(entries(attributes(owner).get("_modules"))).get("module")
    devices = attributes(owner).get("device_ids") or [0]
    wrapper = lives.module_value(owner)
    if inner is None or wrapper is None:
        return None
    home = written(f"cuda:{devices[0]}")
    whole = lives.module_value(inner)
    split = whole is not None and whole.device == SPLIT
    for parameter in inner.parameters():
        if lives.device(parameter) != home:
            weight = lives.tensor_value(parameter)
            if split:  # no move of it all would help
                weight.device = SPLIT
            made = tuple(
                Step(EventKind.WRAPPED, s.spot) for s in wrapper.steps if s.what == EventKind.MADE
            )
            there = Tensor(home, Origin.HOME, made, wrapper.frame)
            return ConstraintKind.HOME, [
                _of_live(Meets(spot.node, weight.module or weight, weight), parameter, lives),
                Operand(Meets(spot.node, wrapper, there), str(home), ()),
            ]
    return None
