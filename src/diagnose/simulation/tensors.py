"""`torch.Tensor` and storages that know the simulated devices.

The class attributes are replaced, not intercepted by a torch function mode: they then work inside
torch's own Python functions too, where modes are off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .checks import DeviceChecks, not_for, type_name
from .driver import Driver
from .interception import intercepted
from .patches import Patches
from .placement import (
    CPU,
    UNPLACED,
    Base,
    device_of,
    label_of,
    place,
    place_storage,
    storage_device,
)

_Function: Any = torch.autograd.Function  # untyped in torch
_BLANK = "_simulated_blank"
_PINNED = "_simulated_pinned"


class ToCopy(_Function):  # type: ignore[misc]
    """A copy on another device; its gradient goes back to where the original is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: Any, device: torch.device, dtype: torch.dtype, options: Any) -> Any:
        """Make the copy."""
        return _copy(tensor, device, dtype, options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Remember where the original is."""
        ctx.source = device_of(inputs[0]), inputs[0].dtype

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """Bring the gradient there."""
        device, dtype = ctx.source
        return gradient.to(device, dtype), None, None, None


def _copy(tensor: Any, device: torch.device, dtype: torch.dtype, options: Any) -> Any:
    result = Base.to(tensor, dtype=dtype, copy=True, **options)
    place(result, device)
    return result


def transfer(
    tensor: Any, device: torch.device, dtype: torch.dtype | None = None, **options: Any
) -> Any:
    """Copy a tensor to another device, differentiably.

    Args:
        tensor: a tensor that is somewhere else.
        device: where the copy goes.
        dtype: its dtype, the tensor's by default.
        options: `non_blocking` and `memory_format`, as for `Tensor.to`.
    """
    dtype = dtype or tensor.dtype
    if "meta" in (device.type, tensor.device.type):
        return Base.to(tensor, CPU if device.type == "cuda" else device, dtype, **options)
    if torch.is_grad_enabled() and tensor.requires_grad:
        return ToCopy.apply(tensor, device, dtype, options)
    return _copy(tensor, device, dtype, options)


def refuse_in_capture(driver: Driver, *tensors: Any) -> None:
    """Refuse a copy to or from memory of the cpu that is not pinned, while a CUDA graph is captured.

    Raises:
        RuntimeError: one of the tensors has such memory.
    """
    if driver.captures and any(t.device == CPU and not t.is_pinned() for t in tensors):
        raise RuntimeError(
            "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU "
            "tensor is pinned. Please use tensor.pin_memory() or allocate the tensor with "
            "pin_memory=True."
        )


def is_blank(tensor: Any) -> bool:
    """Whether a tensor came from the meta device, and nobody has written values to it."""
    return bool(getattr(tensor.untyped_storage(), _BLANK, False)) and not bool(tensor.any())


def place_new(tensor: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Memory for a tensor that has none, with nothing in it."""
    made = torch.zeros(tensor.shape, dtype=dtype, device=CPU)
    setattr(made.untyped_storage(), _BLANK, True)
    place(made, device)
    return made


def install(driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    """Replace what of `torch.Tensor` and of storages depends on the device."""
    placed = {**_placement(driver, checks), **_host_memory(checks)}
    replaced = {**placed, **_new(driver), **_writes(checks)}
    patches.set_all(torch.Tensor, replaced)
    # Parameters of lazy modules allow only the methods on their list.
    lazy: Any = vars(torch.nn.parameter)["UninitializedTensorMixin"]
    patches.set(lazy, "_allowed_methods", [*lazy._allowed_methods, *replaced.values()])
    patches.set_all(torch.UntypedStorage, _storage(driver))


def _placement(driver: Driver, checks: DeviceChecks) -> dict[str, Any]:
    """Attributes that tell or change where a tensor is."""

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        device, rest, others = _device_argument(args, kwargs)
        if device is None or _is_opaque(self):
            return Base.to(self, *args, **kwargs)
        target = driver.resolve(device)
        if target.type not in ("cpu", "cuda", "meta"):
            return Base.to(self, *args, **kwargs)
        dtype, options = _dtype_argument(rest, others)
        if self.device.type == "meta" and target.type != "meta" and not checks.enforced:
            return place_new(self, target, dtype or self.dtype)
        if target != self.device:
            refuse_in_capture(driver, self, torch.empty(0) if target == CPU else self)
            options.pop("copy", None)
            return transfer(self, target, dtype, **options)
        if dtype is None and not options:
            return self
        return Base.to(self, dtype=dtype or self.dtype, **options)

    def to_cuda(
        self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None
    ) -> Any:
        target = driver.resolve("cuda" if device is None else device)
        if target.type != "cuda":
            raise RuntimeError("Invalid device, must be cuda device")
        options = {} if memory_format is None else {"memory_format": memory_format}
        return self.to(target, **options)

    def to_cpu(self: Any, memory_format: Any = None) -> Any:
        options = {} if memory_format is None else {"memory_format": memory_format}
        return self.to(CPU, **options)

    def convert(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            return type_name(self, self.device)
        if isinstance(dtype, torch.dtype):
            return Base.type(self, dtype, non_blocking)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        on_gpu = name.startswith("torch.cuda.")
        kind = _DTYPES[name.rpartition(".")[2]]
        stays = on_gpu and self.device.type == "cuda"
        return self.to(self.device if stays else "cuda" if on_gpu else "cpu", kind)

    def type_as(self: Any, other: Any) -> Any:
        return self.to(other.device, other.dtype)

    def get_device(self: Any) -> int:
        device = self.device
        index: int = device.index if device.type == "cuda" else Base.get_device(self)
        return index

    return {
        "device": property(_tensor_device),
        "is_cuda": property(lambda self: self.device.type == "cuda"),
        "is_cpu": property(lambda self: self.device.type == "cpu"),
        "get_device": get_device,
        "to": intercepted(to),
        "cuda": intercepted(_called("cuda", to_cuda)),
        "cpu": intercepted(_called("cpu", to_cpu)),
        "type": intercepted(_called("type", convert)),
        "type_as": intercepted(type_as),
    }


def _host_memory(checks: DeviceChecks) -> dict[str, Any]:
    """Methods that only tensors of the host have, or that take one there."""

    def numpy(self: Any, *, force: bool = False) -> Any:
        if self.device.type == "cuda":
            if force or not checks.enforced:
                return self.detach().cpu().resolve_conj().resolve_neg().numpy()
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. "
                "Use Tensor.cpu() to copy the tensor to host memory first."
            )
        return Base.numpy(self, force=force)

    def pin_memory(self: Any, device: Any = None) -> Any:
        if self.device.type != "cpu":
            if not checks.enforced:
                return self
            raise RuntimeError(
                f"cannot pin '{type_name(self, self.device)}' only dense CPU tensors can be pinned"
            )
        if is_pinned(self):
            return self
        pinned = self.clone()
        setattr(pinned.untyped_storage(), _PINNED, True)
        return pinned

    def is_pinned(self: Any, device: Any = None) -> bool:
        return bool(getattr(self.untyped_storage(), _PINNED, False))

    def record_stream(self: Any, stream: Any) -> None:
        if self.device.type == "cpu" and checks.enforced:
            raise not_for("record_stream", "CPU")

    return {
        "numpy": intercepted(numpy),
        "pin_memory": intercepted(pin_memory),
        "is_pinned": is_pinned,
        "record_stream": record_stream,
    }


def _called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function by torch's name for it."""
    function.__name__ = name
    return function


def _tensor_device(self: Any) -> torch.device:
    return device_of(self)


def _is_opaque(tensor: Any) -> bool:
    """A subclass that keeps its own device (a FakeTensor, say) moves itself."""
    return type(tensor).device is not torch.Tensor.device


def _new(driver: Driver) -> dict[str, Any]:
    """`new` and `new_tensor` make the tensor in C++, out of the dispatcher's sight."""

    def new_tensor(self: Any, data: Any, *, device: Any = None, **kwargs: Any) -> Any:
        result = Base.new_tensor(self, data, **kwargs)
        place(result, self.device if device is None else driver.resolve(device))
        return result

    def new(self: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        result = Base.new(self, *args, **kwargs)
        place(result, self.device if device is None else driver.resolve(device))
        return result

    return {"new_tensor": new_tensor, "new": new}


def _writes(checks: DeviceChecks) -> dict[str, Any]:
    """Writes across devices: in C++ their gradients would stay where the result is."""
    grad = Base.grad

    def get_grad(self: Any) -> Any:
        value = grad.__get__(self)
        # The engine brings a 0-dim gradient to its tensor; ours was added up where it arose.
        if value is not None and value.dim() == 0 and value.device != self.device:
            place(value, self.device)
        return value

    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
        return Base.copy_(self, _brought_to(self, src), non_blocking)

    def set_(self: Any, source: Any = None, *args: Any, **kwargs: Any) -> Any:
        if source is None:
            return Base.set_(self)
        found = getattr(source, "_untyped_storage", source).device
        if found != self.device and checks.enforced:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{self.device}" to a storage '
                f'on different device "{found}".  This is no longer allowed; the devices '
                "must match."
            )
        return Base.set_(self, source, *args, **kwargs)

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        if _is_basic(index):
            value = _brought_to(self, value)
        Base.__setitem__(self, index, value)

    def set_grad(self: Any, value: Any) -> None:
        if isinstance(value, torch.Tensor) and label_of(value) is UNPLACED:
            place(value, self.device)
        if not checks.enforced:
            grad.__set__(self, value)
            return
        if isinstance(value, torch.Tensor) and value.device != self.device:
            kinds = value.device.type, self.device.type
            how = "a gradient with device type '{}' to a tensor with device type '{}'"
            if kinds[0] == kinds[1]:
                kinds = (chr(value.device.index), chr(self.device.index))  # as torch prints an int8
                how = (
                    "a gradient located on device with index '{}' "
                    "to a tensor located on device with index '{}'"
                )
            text = (
                f"attempting to assign {how.format(*kinds)}. "
                "Please ensure that the gradient and the tensor are on the same device"
            )
            raise RuntimeError(text.partition("\0")[0])  # where C++ takes the text to end
        grad.__set__(self, value)

    return {
        "copy_": intercepted(copy_),
        "set_": intercepted(set_),
        "__setitem__": intercepted(__setitem__),
        "grad": property(get_grad, set_grad, grad.__delete__),
    }


def _brought_to(target: Any, value: Any) -> Any:
    if (
        isinstance(value, torch.Tensor)
        and value.requires_grad
        and torch.is_grad_enabled()
        and value.device != target.device
    ):
        return transfer(value, target.device)
    return value


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, int | slice) for part in parts)


def _storage(driver: Driver) -> dict[str, Any]:
    base: Any = torch._C.StorageBase
    real_device = base.device.__get__

    def __new__(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        target = driver.resolve("cpu" if device is None else device)
        if target.type != "cuda":
            given = {} if device is None else {"device": device}
            return base.__new__(cls, *args, **given, **kwargs)
        storage = base.__new__(cls, *args, **kwargs)
        place_storage(storage, target)
        return storage

    return {
        "__new__": staticmethod(__new__),
        "device": property(lambda self: storage_device(self) or real_device(self)),
    }


# --- arguments of Tensor.to ---

_DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


def _device_argument(args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Take the device out of the arguments of `Tensor.to`; a tensor gives device and dtype."""
    kwargs = dict(kwargs)
    other = kwargs.pop("other", None)
    if args and isinstance(args[0], torch.Tensor):
        other, args = args[0], args[1:]
    if other is not None:
        return other.device, (other.dtype, *args), kwargs
    if args and not isinstance(args[0], torch.dtype):
        device, args = args[0], args[1:]
        return device, args, kwargs
    return kwargs.pop("device", None), args, kwargs


def _dtype_argument(args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read what is left of the arguments of `Tensor.to` once the device is out."""
    names = ("dtype", "non_blocking", "copy")
    given = dict(zip(names, args, strict=False)) | kwargs
    options = {name: given[name] for name in ("copy", "memory_format") if given.get(name)}
    return given.get("dtype"), options
