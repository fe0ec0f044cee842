"""Where a tensor is: a device label on its storage.

A label is a `torch.device` of type cuda, or `UNPLACED` for memory that C++ code allocated with a
tensor's own options (which say "cpu", as C++ knows nothing of labels): such memory belongs to
the device of the first tensor it meets. Memory without a label is where torch says it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

CPU: Final = torch.device("cpu")
UNPLACED: Final = "unplaced"

_LABEL = "_simulated_device"
Base: Any = torch._C.TensorBase
"""Torch's own methods and attributes of tensors, under those that are replaced."""

real_device = Base.device.__get__
"""The device that C++ sees."""

_PLAIN = (torch.Tensor, torch.nn.Parameter)


@cache
def cuda(index: int) -> torch.device:
    """The device `cuda:index`; the same object each time."""
    return torch.device("cuda", index)


def _storage_of(tensor: torch.Tensor) -> Any:
    if type(tensor) in _PLAIN:
        return Base.untyped_storage(tensor)
    if is_traceable_wrapper_subclass(tensor):
        raise NotImplementedError  # the memory is that of the tensors within
    with torch._C.DisableTorchFunctionSubclass():  # whatever the subclass thinks of being asked
        return Base.untyped_storage(tensor)


def label_of(tensor: torch.Tensor) -> Any:
    """Return the label of the memory behind a tensor: a device, `UNPLACED` or None."""
    try:
        return getattr(_storage_of(tensor), _LABEL, None)
    except (NotImplementedError, RuntimeError):  # sparse tensors and wrappers have no storage
        parts = list(_parts(tensor))
        return label_of(parts[0]) if parts else None


def device_of(tensor: torch.Tensor) -> torch.device:
    """Return the device that a tensor is on, as `tensor.device` shows it."""
    label = label_of(tensor)
    if isinstance(label, torch.device):
        return label
    real: torch.device = real_device(tensor)
    return real


def place(tensor: torch.Tensor, device: torch.device | str | None) -> None:
    """Put the memory behind a tensor on a device; None and the cpu take the label off."""
    try:
        place_storage(_storage_of(tensor), device)
    except (NotImplementedError, RuntimeError):
        for part in _parts(tensor):
            place(part, device)


def place_storage(storage: Any, device: torch.device | str | None) -> None:
    """Put a storage on a device; None and the cpu take the label off."""
    if device is None or (isinstance(device, torch.device) and device.type != "cuda"):
        vars(storage).pop(_LABEL, None)
    else:
        setattr(storage, _LABEL, device)


def storage_device(storage: Any) -> torch.device | None:
    """Return the simulated device of a storage, None if it has none."""
    label = getattr(storage, _LABEL, None)
    return label if isinstance(label, torch.device) else None


def _parts(tensor: torch.Tensor) -> Iterable[torch.Tensor]:
    """The tensors that hold the memory of one without a storage of its own."""
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        return (functorch.get_unwrapped(tensor),)
    if is_traceable_wrapper_subclass(
        tensor
    ):  # a DTensor: its flattened parts name the mesh as well
        inner = (getattr(tensor, name) for name in tensor.__tensor_flatten__()[0])
        return [part for part in inner if isinstance(part, torch.Tensor)]
    with torch._C._DisableTorchDispatch():
        if tensor.layout is torch.sparse_coo:
            return (tensor._values(), tensor._indices())
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return (tensor.values(), tensor.crow_indices(), tensor.col_indices())
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return (tensor.values(), tensor.ccol_indices(), tensor.row_indices())
    return ()
