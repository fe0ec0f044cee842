"""What is carried from one GPU to another: out of its layer, or after what is stale."""

from __future__ import annotations

import linecache
import re
import sys
from types import CodeType, FrameType
from typing import Any

import torch

from diagnose.hooks.introspection import attributes
from diagnose.kinds import Origin
from diagnose.tracing.lives import Event, Life, Table

#: What something is carried to, where that is where something else is.
_AFTER = re.compile(r"\.to\((?:device=)?([A-Za-z_]\w*(?:\.\w+)*)\.device\)")


class Leaving:
    """Lines that carry something between GPUs, as ``file:line``: ``layers`` those that carry it away from
    the GPU of the innermost running module, which has all its weights there; ``weights`` those that carry
    a layer's matrix itself; ``after`` those that carry what trains to where something is that does not.
    """

    def __init__(self) -> None:
        self.layers: set[str] = set()
        self.weights: set[str] = set()
        self._after: set[str] = set()
        self._with: set[str] = set()

    @property
    def after(self) -> set[str]:
        """The lines that never carried anything to what trains, or what a layer gave."""
        return self._after - self._with

    def carried(self, tensor: Any, event: Event, running: Any) -> None:
        """Is told of a copy between GPUs, and of the innermost module that runs, if any."""
        line = event.stack[0]
        place = f"{line.code.co_filename}:{line.number}"
        if running is not None:
            homes = {str(one.device) for one in running.parameters()} or gpus_of_replica(running)
            if homes == {str(tensor.device)}:
                self.layers.add(place)
            weight = tensor if tensor._base is None else tensor._base
            if isinstance(weight, torch.nn.Parameter) and weight.dim() > 1:
                self.weights.add(place)

    def brought(self, tensor: Any, event: Event, lives: Table[Life]) -> None:
        """Is told of a copy of what replicas do not share, and of what is known of tensors."""
        line = event.stack[0]
        place = f"{line.code.co_filename}:{line.number}"
        if tensor.requires_grad:
            for name in _AFTER.findall(linecache.getline(line.code.co_filename, line.number)):
                other = _valued(name, line.code)
                if isinstance(other, torch.Tensor):
                    life = lives.get(other)
                    given = other.requires_grad or (
                        life is not None and life.maker == Origin.OUTPUT
                    )
                    (self._with if given else self._after).add(place)


def gpus_of_replica(module: torch.nn.Module) -> set[str]:
    """The GPUs that a replica of `DataParallel` computes on; its ``parameters()`` is empty."""
    layers = (getattr(one, "_former_parameters", {}) for one in module.modules())
    return {str(weight.device) for layer in layers for weight in layer.values()}


def _valued(name: str, code: CodeType) -> Any:
    """What a dotted name is in the running function, where nothing has to be run for it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    if frame is None:
        return None
    first, *rest = name.split(".")
    held = frame.f_locals.get(first, frame.f_globals.get(first))
    for one in rest:
        held = attributes(held).get(one)
    return held
