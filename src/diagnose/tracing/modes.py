"""The torch function mode of a recorder, put on a thread's stack of modes and taken off again."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

_OVERRIDES: Any = torch.overrides
#: What most calls give that is no tensor.
_PLAIN = (int, float, bool, torch.Size, torch.device, torch.dtype, str)


class Notes(Protocol):
    """Who is told of calls."""

    def seen(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """What a call gave."""

    def failing(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
    ) -> None:
        """What a call raised."""


class Births(TorchFunctionMode):
    """Sees every call of torch in one thread."""

    def __init__(self, recorder: Notes) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Runs the call; what it gives, or how it fails, is noted."""
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            with suppress(Exception):
                self._recorder.failing(func, args, kwargs or {}, error)
            raise
        if type(result) not in _PLAIN:
            try:
                self._recorder.seen(func, args, kwargs or {}, result)
            except Exception:
                return result
        return result


def put(mode: TorchFunctionMode) -> None:
    """Puts a mode on this thread's stack, on top, where it does not stand there yet."""
    if mode not in _OVERRIDES._get_current_function_mode_stack():
        _OVERRIDES._push_mode(mode)


def take(mode: TorchFunctionMode) -> None:
    """Takes a mode off this thread's stack; those above it, of the program's own, stay."""
    above: list[TorchFunctionMode] = []
    if mode not in _OVERRIDES._get_current_function_mode_stack():
        return
    while (top := _OVERRIDES._pop_mode()) is not mode:
        above.append(top)
    for one in reversed(above):
        _OVERRIDES._push_mode(one)
