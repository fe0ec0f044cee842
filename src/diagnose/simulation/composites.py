"""Composite functions of torch that compare devices themselves, before their first operator.

In C++ they would see the CPU everywhere, so their comparisons stand here again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .checks import DeviceChecks, Operand, not_for

Replacement = tuple[Any, str, Callable[..., Any]]
"""An owner, the name of its function, and what takes `(original, *args, **kwargs)` in its place."""

#: What torch calls the second argument of `tensor_split`: any of these.
_SECTIONS = ("indices", "sections", "tensor_indices_or_sections")


def replacements(checks: DeviceChecks) -> list[Replacement]:
    """The functions to replace."""
    return [
        (torch._VF, "meshgrid", _meshgrid),
        (torch, "block_diag", _block_diag),
        (torch, "istft", _named(_istft, "input", "n_fft")),
        (torch, "cartesian_prod", _cartesian_prod),
        (torch, "take_along_dim", _named(_take_along_dim, "input", "indices")),
        (torch.Tensor, "take_along_dim", _take_along_dim),
        (torch, "tensor_split", _named(_tensor_split, "input", *_SECTIONS)),
        (torch.Tensor, "tensor_split", _named(_tensor_split, "self", *_SECTIONS)),
        (torch.linalg, "multi_dot", _multi_dot),
        (torch, "quantile", _named(_quantile, "input", "q")),
        (torch, "cholesky_solve", _named(_cholesky_solve, "input", "input2")),
        (torch, "searchsorted", _named(_searchsorted, "sorted_sequence", "input")),
        (torch, "histogram", _named(_histogram, "input", "bins")),
        (torch, "set_rng_state", _set_rng_state),
        (torch._VF, "lstm_cell", _cell(checks, "lstm")),
        (torch._VF, "gru_cell", _cell(checks, "gru")),
        *((torch.Tensor, name, _on_cpu_only(name)) for name in ("apply_", "map_", "map2_")),
    ]


def _named(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """A replacement whose first arguments may come by torch's names for them."""

    def replacement(original: Any, *args: Any, **kwargs: Any) -> Any:
        given = [kwargs.pop(name) for name in names[len(args) :] if name in kwargs]
        return function(original, *args, *given, **kwargs)

    return replacement


def _meshgrid(original: Any, *args: Any, **kwargs: Any) -> Any:
    tensors = args[0] if isinstance(args[0], list | tuple) else args
    if len({tensor.device for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return original(*args, **kwargs)


def _cartesian_prod(original: Any, *tensors: Any) -> Any:
    if len({tensor.device for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return original(*tensors)


def _block_diag(original: Any, *tensors: Any) -> Any:
    for position, tensor in enumerate(tensors):
        if tensor.device != tensors[0].device:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on "
                f"device {tensors[0].device} and input {position} is on device {tensor.device}"
            )
    return original(*tensors)


def _istft(
    original: Any,
    data: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if window is not None and window.device != data.device:
        raise RuntimeError(
            "istft input and window must be on the same device "
            f"but got self on {data.device} and window on {window.device}"
        )
    return original(data, n_fft, hop_length, win_length, window, *args, **kwargs)


def _take_along_dim(original: Any, data: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    if indices.device != data.device:
        raise RuntimeError(
            f"Expected tensor to have {data.device} Device, but got tensor with {indices.device} "
            "Device (while checking arguments for torch.take_along_dim():)"
        )
    return original(data, indices, *args, **kwargs)


def _tensor_split(original: Any, data: Any, sections: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(sections, torch.Tensor) and sections.device.type != "cpu":
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be on cpu, "
            f"but it's on {sections.device}"
        )
    return original(data, sections, *args, **kwargs)


def _multi_dot(original: Any, tensors: Any, *, out: Any = None) -> Any:
    for position, tensor in enumerate(tensors):
        if tensor.device != tensors[0].device:
            raise RuntimeError(
                "multi_dot(): all tensors must be on the same device but tensor 0 is on "
                f"{tensors[0].device} and tensor {position} on {tensor.device}"
            )
    return original(tensors, out=out)


def _quantile(original: Any, data: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(q, torch.Tensor) and q.device != data.device:
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
    return original(data, q, *args, **kwargs)


def _cholesky_solve(original: Any, b: Any, factor: Any, *args: Any, **kwargs: Any) -> Any:
    if b.device != factor.device:
        raise RuntimeError(
            "Expected b and A to be on the same device, "
            f"but found b on {b.device} and A on {factor.device} instead."
        )
    return original(b, factor, *args, **kwargs)


def _searchsorted(original: Any, sequence: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
    sorter = kwargs.get("sorter")
    if sorter is not None and sorter.device != sequence.device:
        raise RuntimeError(
            "torch.searchsorted(): sorter and boundary tensors should have same device type, but "
            f"got sorter tensor device type {sorter.device} and input value tensor device type "
            f"{sequence.device}"
        )
    return original(sequence, values, *args, **kwargs)


def _histogram(original: Any, data: Any, bins: Any, *args: Any, **kwargs: Any) -> Any:
    given = [tensor for tensor in (data, bins) if isinstance(tensor, torch.Tensor)]
    if any(tensor.device.type == "cuda" for tensor in given):
        overload = "bins_tensor" if isinstance(bins, torch.Tensor) else "bin_ct"
        raise not_for(f"histogram.{overload}", "CUDA")
    return original(data, bins, *args, **kwargs)


def _set_rng_state(original: Any, new_state: Any) -> Any:
    if new_state.device.type != "cpu":
        raise TypeError("RNG state must be a torch.ByteTensor")
    return original(new_state)


def _on_cpu_only(name: str) -> Callable[..., Any]:
    def on_cpu_only(original: Any, tensor: Any, *args: Any) -> Any:
        if tensor.device.type != "cpu":
            raise TypeError(f"{name} is only implemented on CPU tensors")
        return original(tensor, *args)

    return on_cpu_only


def _cell(checks: DeviceChecks, kind: str) -> Callable[..., Any]:
    """LSTM and GRU cells: for an input on a GPU two products without bias, then one kernel."""

    def cell(
        original: Any,
        data: Any,
        state: Any,
        w_ih: Any,
        w_hh: Any,
        b_ih: Any = None,
        b_hh: Any = None,
    ) -> Any:
        if data.device.type == "cuda":
            hidden = state[0] if kind == "lstm" else state
            for left, right in ((data, w_ih), (hidden, w_hh)):
                _compare(checks, "wrapper_CUDA_mm", self=left, mat2=right)
            third = {"cx": state[1]} if kind == "lstm" else {"hx": state}
            biases = {"input_bias": b_ih, "hidden_bias": b_hh}
            _compare(
                checks,
                f"wrapper_CUDA___thnn_fused_{kind}_cell",
                input_gates=data,
                hidden_gates=hidden,
                **third,
                **biases,
            )
        return original(data, state, w_ih, w_hh, b_ih, b_hh)

    return cell


def _compare(checks: DeviceChecks, method: str, **tensors: Any) -> None:
    operands = [Operand(name, t, t.device) for name, t in tensors.items() if t is not None]
    checks.same_device(method, tuple((name, name) for name in tensors), operands)
