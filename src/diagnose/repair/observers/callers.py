"""Who calls a model, and what each of them hands over: where it is, or elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from types import FrameType
from typing import Any


class Callers:
    """The lines of the program that call its models, by the models' classes; what calls within a call do is
    not looked at."""

    def __init__(self) -> None:
        self._home: defaultdict[str, set[str]] = defaultdict(set)
        self._brought: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def called(self, module: Any, frame: FrameType, given: Iterable[Any]) -> None:
        """Is told of a call, of the frame that makes it, and of the tensors that it hands over."""
        own = next((one.device for one in module.parameters()), None)
        devices = {one.device for one in given}
        if own is not None and own.type == "cuda" and devices == {own}:
            self._home[type(module).__name__].add(_place(frame))

    def brought(self, module: Any, frame: FrameType, line: str) -> None:
        """Is told of a line, as ``file:line``, that copies what such a call handed over."""
        self._brought[type(module).__name__, line].add(_place(frame))

    @property
    def strays(self) -> dict[str, list[str]]:
        """Lines that copy what one caller of a model alone hands over elsewhere than the model is: that
        caller, and one that does not."""
        return {
            line: [*callers, min(others)]
            for (name, line), callers in self._brought.items()
            if len(callers) == 1 and (others := self._home[name] - callers)
        }


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
