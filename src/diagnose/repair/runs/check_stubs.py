"""For the reference of a program that checks devices itself: its own lines are told that what is on the cpu
is on a GPU, so that ``if not x.is_cuda: raise`` lets pass what torch lets pass without device checks.

Torch, libraries and whoever watches the run are told where a tensor is; but libraries, which refuse a
generator of a GPU for what they draw on the cpu, are told that it is on the cpu.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from diagnose.tracing.stacks import is_own

#: What a tensor on the current GPU answers.
_ANSWERS: dict[str, Callable[[], Any]] = {
    "device": lambda: torch.device("cuda", torch.cuda.current_device()),
    "is_cuda": lambda: True,
    "is_cpu": lambda: False,
}


@contextmanager
def claiming() -> Iterator[None]:
    """A context that a program runs in, on simulated GPUs."""
    names = (*_ANSWERS, "get_device")
    before = {name: getattr(torch.Tensor, name) for name in names}
    where = before["device"].__get__

    def claimed(tensor: Any, depth: int = 2) -> bool:
        return is_own(sys._getframe(depth).f_code) and where(tensor).type == "cpu"

    def answering(name: str) -> property:
        asked = before[name].__get__
        answer = _ANSWERS[name]
        return property(lambda self: answer() if claimed(self) else asked(self))

    def get_device(self: Any) -> Any:
        if claimed(self):
            return torch.cuda.current_device()
        return before["get_device"](self)

    generator: Any = torch.Generator
    where_drawn = generator.device.__get__

    def drawn_on(self: Any) -> Any:
        return where_drawn(self) if is_own(sys._getframe(1).f_code) else torch.device("cpu")

    try:
        generator.device = property(drawn_on)
        for name in _ANSWERS:
            setattr(torch.Tensor, name, answering(name))
        torch.Tensor.get_device = get_device  # type: ignore[method-assign]
        yield
    finally:
        generator.device = property(where_drawn)
        for name in names:
            setattr(torch.Tensor, name, before[name])
