"""Functions in place of torch's C++ that torch function modes see as they see those."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch


def intercepted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that stands for one of torch's C++; a mode (`torch.overrides.TorchFunctionMode`) sees its
    calls."""
    overrides: Any = torch.overrides  # untyped in torch

    @functools.wraps(function)
    def visible(*args: Any, **kwargs: Any) -> Any:
        if torch._C._is_torch_function_mode_enabled():
            return overrides.handle_torch_function(visible, (), *args, **kwargs)
        return function(*args, **kwargs)

    return visible
