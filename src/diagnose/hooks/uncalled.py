"""Failures that are no call of torch's: what met there is found in the frames."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from diagnose.hooks.lives import Lives
from diagnose.hooks.peeking import attributes, device_of, entries, is_a, items, shape_of
from diagnose.placement import Spot, Step
from diagnose.placement.devices import written
from diagnose.placement.machine import Meets
from diagnose.placement.tensors import Tensor
from diagnose.tracing.stacks import Line


class Running(NamedTuple):
    """A frame of the traceback, and the instruction that it stands at."""

    frame: FrameType
    line: Line


class Operand(NamedTuple):
    """What met: its side of the meeting, where it is as torch prints it, its sizes, and a variable that
    holds it or what it was computed from."""

    side: Meets
    device: str
    shape: tuple[int, ...]
    name: str = ""


def _of_live(side: Meets, tensor: Any) -> Operand:
    return Operand(side, device_of(tensor) or "?", shape_of(tensor))


def of_optimizer(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[str, list[Operand]] | None:
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
                    stray = Tensor(lives.device(state), "state", (), None, module=weight.module)
                    return "state", [
                        _of_live(Meets(spot.node, stray, stray), state),
                        _of_live(Meets(spot.node, weight, weight), parameter),
                    ]
    return None


def of_wrapper(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[str, list[Operand]] | None:
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
    if whole is not None and whole.device is not None and whole.device.type == "split":
        return None  # it is split, and no move of it all would help
    for parameter in inner.parameters():
        if lives.device(parameter) != home:
            weight = lives.tensor_value(parameter)
            made = tuple(Step("wrapped", s.spot) for s in wrapper.steps if s.what == "made")
            there = Tensor(home, "home", made, wrapper.frame)
            return "home", [
                _of_live(Meets(spot.node, weight.module or weight, weight), parameter),
                Operand(Meets(spot.node, wrapper, there), str(home), ()),
            ]
    return None
