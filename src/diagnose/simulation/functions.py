"""Functions of torch that look at devices before the dispatcher sees a call.

In C++ they would see the CPU everywhere, so their comparisons stand here again; constructors that
fill a tensor from Python data, out of the dispatcher's sight, put it on the device asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._device import DeviceContext

from . import composites
from .checks import DeviceChecks, Operand
from .dispatch import is_fake_mode
from .driver import Driver
from .interception import intercepted
from .patches import Patches
from .placement import CPU, device_of, place
from .tensors import _DTYPES, refuse_in_capture


def install(driver: Driver, device_checks: DeviceChecks, patches: Patches) -> None:
    """Replace the functions until the patches are undone."""
    # Fills a cache with torch's own functions; filled later it would remember ours for good.
    torch.utils._device._device_constructors()
    for owner, name, function in _constructors(driver):
        _replace(patches, owner, name, _wrapped(getattr(owner, name), function))
    for owner, name, function in _comparing(device_checks):
        _replace(patches, owner, name, intercepted(_wrapped(getattr(owner, name), function)))
    group = functools.partial(_group_tensors, device_checks)
    patches.set(torch._C, "_group_tensors_by_device_and_dtype", group)
    for name, dtype in _DTYPES.items():
        patches.set(torch.cuda, name, _legacy_type(driver, name, dtype))
    patches.set(torch, "compile", _compile)
    patches.set(torch, "device", _device_type())
    autocast = torch.amp.autocast_mode.autocast
    patches.set_all(autocast, _autocast(autocast))


_FILLS = ("empty", "zeros", "ones", "full")


def _constructors(driver: Driver) -> list[tuple[Any, str, Callable[..., Any]]]:
    """What makes tensors. Torch's own constructors run within: modes (`torch.device` as a context) see
    these."""
    make = functools.partial(_construct, driver)
    indexed = functools.partial(_with_index, driver)
    listed: list[tuple[Any, str, Callable[..., Any]]] = [
        (torch, "tensor", make),
        (torch, "as_tensor", functools.partial(_convert, driver)),
        (torch, "asarray", functools.partial(_convert, driver)),
        (torch.export, "export", _export),
        (torch, "sparse_coo_tensor", functools.partial(_sparse, driver)),
        (torch._C._nn, "_parse_to", _parse_to),
    ]
    constructors = {function.__name__ for function in torch.utils._device._device_constructors()}
    likes = {f"{name}_like" for name in _FILLS} | {"rand_like", "randn_like", "randint_like"}
    listed += [
        (torch, name, indexed)
        for name in sorted(constructors | likes)
        if name not in ("tensor", "as_tensor", "asarray") and hasattr(torch, name)
    ]
    listed += [(torch.Tensor, f"new_{name}", indexed) for name in (*_FILLS, "empty_strided")]
    return listed


def _comparing(device_checks: DeviceChecks) -> list[tuple[Any, str, Callable[..., Any]]]:
    """What compares devices: nothing, where checks are not enforced."""
    if not device_checks.enforced:
        return []
    listed: list[tuple[Any, str, Callable[..., Any]]] = [
        (torch, "ctc_loss", _ctc_loss),
        (torch.nn.functional, "scaled_dot_product_attention", _attention),
        (torch._C._nn, "scaled_dot_product_attention", _attention),
        (torch._VF, "stft", functools.partial(_spectral, "stft")),
    ]
    listed += [
        (torch._VF, name, functools.partial(_recurrent, name == "lstm"))
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    ]
    if device_checks.wording == "new":  # one fused operator only in the torch of these sentences
        listed.append((torch, "rms_norm", functools.partial(_rms_norm, device_checks)))
    return listed + composites.replacements(device_checks)


def _replace(patches: Patches, owner: Any, name: str, wrapper: Any) -> None:
    original = getattr(owner, name)
    patches.set(owner, name, wrapper)
    _tell_torchscript(patches, original, wrapper)


def _wrapped(original: Any, function: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(original, *args, **kwargs)

    return wrapper


def _tell_torchscript(patches: Patches, original: Any, wrapper: Any) -> None:
    """Let scripted functions that name the wrapper mean the operator behind it."""
    builtins: Any = torch.jit._builtins
    table = builtins._get_builtin_table()
    if id(original) in table:
        table[id(wrapper)] = table[id(original)]
        patches.at_end(lambda: table.pop(id(wrapper), None))


# --- constructors ---


def _default_device() -> Any:
    """The device of the innermost `with torch.device(...)` or `set_default_device`, or None."""
    overrides: Any = torch.overrides
    for mode in reversed(overrides._get_current_function_mode_stack()):
        if isinstance(mode, DeviceContext):
            return mode.device
    return None


def _construct(
    driver: Driver, original: Any, data: Any, *args: Any, device: Any = None, **kwargs: Any
) -> Any:
    if device is None:
        device = _default_device()
    if device is None:
        return original(data, *args, **kwargs)
    target = driver.resolve(device)
    if is_fake_mode():
        return _fake(original(data, *args, device=CPU, **kwargs), target)
    if target.type != "cuda":
        result = original(data, *args, device=target, **kwargs)
        if isinstance(data, torch.Tensor) and target.type == "cpu":
            place(result, target)
        return result
    # Said, or a default device would reach the C++ constructor.
    result = original(data, *args, device=CPU, **kwargs)
    refuse_in_capture(driver, result)
    place(result, target)
    return result


def _convert(
    driver: Driver, original: Any, data: Any, *args: Any, device: Any = None, **kwargs: Any
) -> Any:
    if args and not isinstance(args[0], torch.dtype) and args[0] is not None and device is None:
        device, args = args[0], args[1:]
    if device is None and not isinstance(data, torch.Tensor):
        device = _default_device()
    if device is None:
        return original(data, *args, **kwargs)
    target = driver.resolve(device)
    if is_fake_mode():
        return _fake(original(data, *args, device=CPU, **kwargs), target)
    if target.type == "meta":
        return original(data, *args, device=target, **kwargs)
    result = original(data, *args, device=CPU, **kwargs)
    return result.to(target)


def _sparse(driver: Driver, original: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    """A sparse tensor; its parts are brought to the device asked for."""
    made = original(*args, **kwargs)
    return made if device is None else made.to(driver.resolve(device))


def _fake(made: Any, target: torch.device) -> Any:
    """A fake tensor elsewhere; moving one that knows its value would need real hardware."""
    return made if target == CPU else torch.empty(made.shape, dtype=made.dtype, device=target)


def _with_index(driver: Driver, original: Any, *args: Any, **kwargs: Any) -> Any:
    """A factory: in C++ a device that is a bare number asks for hardware."""
    if type(kwargs.get("device")) is int:
        kwargs["device"] = driver.resolve(kwargs["device"])
    return original(*args, **kwargs)


def _parse_to(original: Any, *args: Any, **kwargs: Any) -> Any:
    """The arguments of `Module.to`."""
    if args and type(args[0]) is int:
        args = (torch.device(args[0]), *args[1:])
    if type(kwargs.get("device")) is int:
        kwargs["device"] = torch.device(kwargs["device"])
    return original(*args, **kwargs)


def _device_type() -> Any:
    """`torch.device` whose bare numbers are GPUs; devices themselves are torch's own."""
    own = torch.device

    class Meta(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if len(args) == 1 and type(args[0]) is int and not kwargs:
                return own("cuda", args[0])
            return own(*args, **kwargs)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, own)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            return issubclass(subclass, own) or subclass is device

        def __eq__(cls, other: object) -> bool:
            return other is own or other is device

        def __hash__(cls) -> int:
            return hash(own)

        def __getattr__(cls, name: str) -> Any:
            return getattr(own, name)

    class device(metaclass=Meta):
        __doc__ = own.__doc__

    device.__module__, device.__qualname__ = "torch", "device"
    return device


def _legacy_type(driver: Driver, name: str, dtype: torch.dtype) -> Any:
    """`torch.cuda.FloatTensor` and its kin: constructors, and types for isinstance."""
    on_cpu = getattr(torch, name)

    class Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, torch.Tensor) and instance.type() == f"torch.cuda.{name}"

    class LegacyType(metaclass=Meta):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            result = on_cpu(*args, **kwargs)
            place(result, driver.resolve("cuda"))
            return result

    LegacyType.dtype = dtype  # type: ignore[attr-defined]
    LegacyType.__module__, LegacyType.__name__ = "torch.cuda", name
    return LegacyType


# --- checks above the dispatcher ---


def _attention(original: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    devices = [tensor.device for tensor in (query, key, value)]
    if len({device for device in devices if device.type != "meta"}) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same device type, but got query.device: "
            f"{devices[0]} key.device: {devices[1]} and value.device: {devices[2]} instead."
        )
    return original(query, key, value, *args, **kwargs)


def _recurrent(is_lstm: bool, original: Any, *args: Any) -> Any:
    """LSTM, GRU and RNN: `(input, hx, params, ...)`, or `(data, batch_sizes, hx, params, ...)`."""
    packed = isinstance(args[3], list | tuple)
    data, hidden, parameters = args[0], args[2 if packed else 1], args[3 if packed else 2]
    if packed and data.device.type == "cpu":  # only cuDNN checks these; here linear layers will
        return original(*args)
    states = hidden if is_lstm else (hidden,)
    for kind, tensors in (("hidden", states), ("parameter", parameters)):
        for tensor in tensors:
            if tensor.device != data.device:
                raise RuntimeError(
                    f"Input and {kind} tensors are not at the same device, found input tensor "
                    f"at {data.device} and {kind} tensor at {tensor.device}"
                )
    return original(*args)


def _ctc_loss(
    original: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any
) -> Any:
    """Targets and lengths are brought to the log-probabilities, wherever they are."""
    device = log_probs.device
    lengths = [
        (length if isinstance(length, torch.Tensor) else torch.tensor(length)).to(device)
        for length in (input_lengths, target_lengths)
    ]
    return original(log_probs, targets.to(device), *lengths, *args)


def _spectral(name: str, original: Any, *args: Any, **kwargs: Any) -> Any:
    """Short-time Fourier transforms, `(input, n_fft, hop_length, win_length, window, ...)`."""
    data, window = args[0], args[4]
    if window is not None and window.device != data.device:
        raise RuntimeError(
            f"{name} input and window must be on the same device "
            f"but got self on {data.device} and window on {window.device}"
        )
    return original(*args, **kwargs)


def _rms_norm(
    device_checks: DeviceChecks,
    original: Any,
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    eps: Any = None,
) -> Any:
    if weight is not None and "cuda" in (input.device.type, weight.device.type):
        names = ("input", "weight")
        device_checks.same_device(
            "wrapper_CUDA___fused_rms_norm",
            tuple((name, name) for name in names),
            [Operand(name, t, t.device) for name, t in zip(names, (input, weight), strict=True)],
        )
    return original(input, normalized_shape, weight, eps)


# --- optimizers ---


_STEPS = {
    "old": "float32/64 notwithstanding",
    "new": "float32/64, and optimizer states that can be bfloat16 for mixed-precision training",
}


def _group_tensors(
    checks: DeviceChecks, tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False
) -> dict[Any, Any]:
    """What optimizers group their tensors by: device and dtype of the first list's tensors."""
    grouped: dict[Any, Any] = {}
    for position, first in enumerate(tensorlistlist[0]):
        key = (device_of(first), first.dtype)
        lists, indices = grouped.setdefault(key, ([[] for _ in tensorlistlist], []))
        for column, tensors in zip(lists, tensorlistlist, strict=True):
            if not tensors:
                continue
            tensor = tensors[position]
            column.append(tensor)
            if checks.enforced and tensor is not None and not _may_join(tensor, key):
                raise RuntimeError(
                    "Tensors of the same index must be on the same device and the same dtype "
                    f"except `step` tensors that can be CPU and {_STEPS[checks.wording]}"
                )
        if with_indices:
            indices.append(position)
    return grouped


def _may_join(tensor: Any, key: tuple[torch.device, torch.dtype]) -> bool:
    device, dtype = key
    if tensor.device != device and tensor.device.type != "cpu":
        return False
    # Any float tensor passes for a step, whatever its shape.
    return tensor.dtype in (torch.float32, torch.float64) or (
        tensor.device == device and tensor.dtype in (dtype, torch.bfloat16)
    )


# --- compilers ---


def _compile(model: Any = None, **options: Any) -> Any:
    """`torch.compile` that compiles nothing: compiled code would bypass the dispatcher."""
    return model if model is not None else lambda function: function


def _export(original: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
    """Export takes fake tensors of GPUs to autograd, which ends the process where there are none."""
    trained = (parameter for parameter in module.parameters() if parameter.requires_grad)
    if any(parameter.device.type == "cuda" for parameter in trained):
        raise NotImplementedError("torch.export of trainable parameters on a GPU is not simulated")
    return original(module, *args, **kwargs)


# --- autocast ---


def _autocast(autocast: Any) -> dict[str, Any]:
    """Autocast for "cuda" casts on simulated GPUs by switching on the CPU's as well."""
    enter, leave = autocast.__enter__, autocast.__exit__

    def __enter__(self: Any) -> Any:
        result = enter(self)
        if self.device == "cuda" and self.fast_dtype in (torch.float16, torch.bfloat16):
            twin = autocast("cpu", self.fast_dtype, self._enabled, self._cache_enabled)
            enter(twin)
            self.__dict__.setdefault("_simulated", []).append(twin)
        return result

    def __exit__(self: Any, *exception: Any) -> Any:
        if self.__dict__.get("_simulated"):
            leave(self._simulated.pop(), *exception)
        return leave(self, *exception)

    return {"__enter__": __enter__, "__exit__": __exit__}
