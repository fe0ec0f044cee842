"""Autograd's checks of where gradients are.

The engine compares a gradient with what the forward pass noted; in C++ both are on the CPU here.
Checked again are the gradients that Python code hands to the engine: arguments of `backward`, results
of hooks and of custom functions. A 0-dim gradient is moved, as the engine does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from .checks import DeviceChecks, type_name
from .patches import Patches
from .placement import UNPLACED, label_of


def install(checks: DeviceChecks, patches: Patches) -> None:
    """Put the checks in place until the patches are undone, if they are enforced."""
    if not checks.enforced:
        return
    patches.set(torch.autograd, "_make_grads", _make_grads(vars(torch.autograd)["_make_grads"]))
    patches.set(torch.Tensor, "register_hook", _register_hook(torch.Tensor.register_hook))
    functions: Any = torch.autograd.function
    node: Any = functions.BackwardCFunction
    patches.set(node, "apply", _backward(node.apply))
    custom: Any = torch.autograd.Function
    patches.set(custom, "apply", classmethod(_forward(custom.apply.__func__)))


def settled(gradient: Any, device: torch.device, complaint: str) -> Any:
    """Return a gradient that may go to a tensor on a device.

    Raises:
        RuntimeError: it is elsewhere, and not 0-dim.
    """
    if not isinstance(gradient, torch.Tensor) or label_of(gradient) is UNPLACED:
        return gradient
    if gradient.device == device or "meta" in (gradient.device.type, device.type):
        return gradient
    if gradient.dim() == 0:
        return gradient.to(device)
    raise RuntimeError(f"{complaint} - expected device {device} but got {gradient.device}")


def _make_grads(original: Any) -> Any:
    @functools.wraps(original)
    def make_grads(outputs: Sequence[Any], grads: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        made = original(outputs, grads, *args, **kwargs)
        return tuple(
            settled(gradient, output.device, f"invalid gradient at index {position}")
            if isinstance(output, torch.Tensor)
            else gradient
            for position, (output, gradient) in enumerate(zip(outputs, made, strict=False))
        )

    return make_grads


def _register_hook(original: Any) -> Any:
    @functools.wraps(original)
    def register_hook(self: Any, hook: Any) -> Any:
        @functools.wraps(hook, assigned=("__name__", "__qualname__", "__doc__"), updated=())
        def checked(gradient: Any) -> Any:
            result = hook(gradient)
            if isinstance(result, torch.Tensor):
                kinds = [type_name(tensor, tensor.device) for tensor in (gradient, result)]
                if kinds[0] != kinds[1] and result.dtype == gradient.dtype:
                    name = getattr(hook, "__name__", None) or type(hook).__name__
                    raise RuntimeError(
                        f"hook '{name}' has changed the type of value "
                        f"(was {kinds[0]} got {kinds[1]})"
                    )
            return result

        return original(self, checked)

    return register_hook


def _forward(original: Any) -> Any:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        devices = [a.device if isinstance(a, torch.Tensor) else None for a in args]
        results = original(cls, *args, **kwargs)
        for result in results if isinstance(results, tuple) else (results,):
            node = getattr(result, "grad_fn", None)
            if isinstance(node, torch.autograd.function.BackwardCFunction):
                node._simulated_devices = devices  # type: ignore[attr-defined]
        return results

    return apply


def _backward(original: Any) -> Any:
    def apply(self: Any, *args: Any) -> Any:
        results = original(self, *args)
        devices = getattr(self, "_simulated_devices", None)
        if devices is None:
            return results
        several = isinstance(results, tuple)
        checked = tuple(
            gradient
            if device is None
            else settled(
                gradient,
                device,
                f"Function {type(self).__name__} returned an invalid gradient at index {position}",
            )
            for position, (gradient, device) in enumerate(
                zip(results if several else (results,), devices, strict=False)
            )
        )
        rest = results[len(devices) :] if several else ()
        return (*checked, *rest) if several else checked[0]

    return apply
