"""TorchScript: its interpreter prints an error of ours without the sentence; put it back."""

from __future__ import annotations

from typing import Any

import torch

from .checks import DeviceChecks
from .patches import Patches


def install(checks: DeviceChecks, patches: Patches) -> None:
    """Complete the errors of scripted functions and methods until the patches are undone."""
    for owner in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        patches.set(owner, "__call__", _complete(owner.__call__, checks))


def _complete(original: Any, checks: DeviceChecks) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except RuntimeError as error:
            text = str(error).rstrip()
            if checks.latest and text.endswith("RuntimeError:"):
                raise type(error)(f"{text} {checks.latest}\n") from None
            raise

    return __call__
