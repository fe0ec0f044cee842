"""CUDA's device checks, and the sentences in which they fail.

A check takes operands, each with the device it is on, and raises the `RuntimeError` that torch
raises on real GPUs. Memory that takes the device of whatever it meets (`UNPLACED`) never gets here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from .operators import Rule
from .placement import Base


class Operand(NamedTuple):
    """A tensor argument of a call: its name in the schema, and whether the call writes to it."""

    name: str
    tensor: torch.Tensor
    device: torch.device
    written: bool = False


class DeviceChecks:
    """The checks, in one of torch's two wordings.

    Those that are not ``enforced`` let everything pass.
    """

    def __init__(self, wording: str, *, enforced: bool = True) -> None:
        self.wording = wording
        self.enforced = enforced
        self.latest = ""
        """The latest error's sentence, for those who lose it."""

    def check(self, operator: str, rule: Rule, operands: Sequence[Operand], call: Call) -> None:
        """Raise what CUDA raises when the operands of a call are not where they may be.

        Args:
            operator: "operator.overload".
            rule: what operators.toml says of it.
            operands: its tensors, those of a list one by one under the list's name.
            call: its other arguments, for the checks that depend on them.
        """
        if not self.enforced:
            return
        if any(operand.device.type == "meta" for operand in operands):
            return  # torch calls the meta kernel, whose own Python code compares the devices
        try:
            self._check(operator, rule, operands, call)
        except RuntimeError as error:
            self.latest = str(error)
            raise

    def _check(self, operator: str, rule: Rule, operands: Sequence[Operand], call: Call) -> None:
        special = _SPECIAL.get(operator)
        if special is not None:
            special(self, operands, call)
        elif rule.kind == "checked":
            self.same_device(rule.method, rule.arguments, operands)
        elif rule.kind == "reduction":
            self.result(operands)
        elif rule.kind == "elementwise":
            if operator.startswith("_foreach_"):
                self.foreach(operands, rule.cpu_scalars)
            else:
                self.elementwise(operands, rule.cpu_scalars)

    def same_device(
        self, method: str, arguments: Iterable[tuple[str, str]], operands: Sequence[Operand]
    ) -> None:
        """The check that torchgen generates: each argument is compared with the first."""
        if not self.enforced:
            return
        common: torch.device | None = None
        for name, printed in arguments:
            for operand in operands:
                if operand.name != name:
                    continue
                if common is None:
                    common = operand.device
                elif operand.device != common:
                    wrapper = _of_sparse(method) if _any_sparse(operands) else method
                    raise RuntimeError(self.different(printed, operand.device, common, wrapper))

    def generator(self, generator: str, device: torch.device) -> None:
        """Raise if a generator of one device type is to fill a tensor of another."""
        if generator != device.type and self.enforced:
            raise RuntimeError(
                f"Expected a '{device.type}' device type for generator but found '{generator}'"
            )

    def no_kernel(self, operator: str) -> None:
        """Raise what the dispatcher raises for an operator without a kernel for CUDA.

        Its list of the backends that have one, which ends the sentence, differs between builds and is
        left out.
        """
        if self.enforced:
            raise NotImplementedError(
                f"Could not run '{operator}' with arguments from the 'CUDA' backend. This could be "
                "because the operator doesn't exist for this backend, or was omitted during the "
                "selective/custom build process (if using custom build). If you are a Facebook "
                "employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
                "possible resolutions."
            )

    def different(
        self, argument: str, device: torch.device, common: torch.device, method: str
    ) -> str:
        """The sentence of a generated check."""
        start = "Expected all tensors to be on the same device, but "
        if self.wording == "old":
            return (
                f"{start}found at least two devices, {common} and {device}! "
                f"(when checking argument for argument {argument} in method {method})"
            )
        return (
            f"{start}got {argument} is on {device}, different from other tensors on {common} "
            f"(when checking argument in method {method})"
        )

    def elementwise(self, operands: Sequence[Operand], cpu_scalars: int | None = 1) -> None:
        """TensorIterator: outputs first; the first device that is no cpu is the common one."""
        ordered = [o for o in operands if o.written] + [o for o in operands if not o.written]
        common = next((o.device for o in ordered if o.device.type != "cpu"), None)
        if common is None:
            return
        scalars = 0
        for operand in ordered:
            if operand.device == common:
                continue
            if not operand.written and operand.device.type == "cpu" and operand.tensor.dim() == 0:
                scalars += 1
                if cpu_scalars is None or scalars <= cpu_scalars:
                    continue
                if cpu_scalars:
                    raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
            raise RuntimeError(two_devices(common, operand.device))

    def result(self, operands: Sequence[Operand]) -> None:
        """A reduction into `out=`: structured kernels compare the result that they would make."""
        data = next(operand for operand in operands if not operand.written)
        for operand in operands:
            if operand.written and operand.device != data.device:
                raise RuntimeError(
                    f"Expected out tensor to have device {data.device}, "
                    f"but got {operand.device} instead"
                )

    def foreach(self, operands: Sequence[Operand], cpu_scalars: int | None = 1) -> None:
        """`_foreach_` operators: the i-th tensors of the lists meet, as in the slow path."""
        lists: dict[str, list[Operand]] = {}
        for operand in operands:
            lists.setdefault(operand.name, []).append(operand)
        columns = list(lists.values())
        length = len(columns[0]) if columns else 0
        single = [column[0] for column in columns[1:] if column[0].name == "other"]
        if single and single[0].tensor.dim() == 0 and len(lists["other"]) == 1:
            scalar, first = single[0].device, columns[0][0].device
            if scalar.type != "cpu" and scalar != first:  # one on the cpu is read as a number
                raise RuntimeError(f"scalar tensor expected to be on {first} but is on {scalar}")
            return
        together = [column for column in columns if len(column) == length]
        for row in zip(*together, strict=True):
            self.elementwise(row, cpu_scalars)


class Call(NamedTuple):
    """The arguments of a call by name, defaults left out."""

    arguments: dict[str, Any]


def _any_sparse(operands: Sequence[Operand]) -> bool:
    return any(operand.tensor.layout is torch.sparse_coo for operand in operands)


def _of_sparse(method: str) -> str:
    """The wrapper of an operator's sparse kernel, which is not a structured one."""
    rest = method.removeprefix("wrapper_CUDA_")
    return method if rest == method else f"wrapper_SparseCUDA_{'' if rest[0] == '_' else '_'}{rest}"


def two_devices(first: torch.device, second: torch.device) -> str:
    """The sentence of TensorIterator."""
    return (
        "Expected all tensors to be on the same device, "
        f"but found at least two devices, {first} and {second}!"
    )


def not_for(operator: str, backend: str) -> NotImplementedError:
    """The error of an operator that a backend lacks; torch lists the other backends after this."""
    return NotImplementedError(
        f"Could not run 'aten::{operator}' with arguments from the '{backend}' backend."
    )


def type_name(tensor: torch.Tensor, device: torch.device) -> str:
    """Return what `tensor.type()` says of a tensor on that device."""
    name: str = Base.type(tensor)
    prefix = {"cuda": "torch.cuda.", "cpu": "torch."}.get(device.type)
    return f"{prefix}{name.rpartition('.')[2]}" if prefix else name


def _named(operands: Sequence[Operand], name: str) -> Operand | None:
    return next((operand for operand in operands if operand.name == name), None)


def _check_index(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    indexed = operands[0].device
    for operand in operands:
        if operand.name != "indices":
            continue
        if operand.device.type != "cpu" and operand.device != indexed:
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({indexed})"
            )


def _check_index_put(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    # The indices are brought to the tensor, wherever they are.
    indexed, values = operands[0], _named(operands, "values")
    if values is None or values.device == indexed.device or values.tensor.dim() == 0:
        return
    if call.arguments.get("accumulate") and indexed.device.type == "cuda":
        raise RuntimeError(
            f"expected device {indexed.device} but got device {values.device} for value tensor"
        )
    checks.elementwise([indexed._replace(written=True), values])


def _check_masked_fill(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    filled, mask, value = (_named(operands, name) for name in ("self", "mask", "value"))
    if filled is None or mask is None:
        return
    if value is not None and filled.device.type == "cpu":
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if mask.device != filled.device:
        raise RuntimeError(
            "expected self and mask to be on the same device, "
            f"but got mask on {mask.device} and self on {filled.device}"
        )


def _check_index_fill(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    # The value is read as a number first, wherever it is.
    checks.elementwise([operand for operand in operands if operand.name != "value"])


def _check_convolution(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    """Each backend checks in its own way, and the input's device takes part in the choice."""
    arguments = call.arguments
    data, weight, bias = (_named(operands, name) for name in ("input", "weight", "bias"))
    if data is None or weight is None:
        return
    transposed, spatial = bool(arguments.get("transposed")), weight.tensor.dim() - 2
    if data.device.type == "cpu" and not _runs_in_mkldnn(arguments):
        if spatial == 3 and not transposed:
            raise not_for("slow_conv3d_forward", "CUDA")
        dilated = any(step != 1 for step in arguments["dilation"])
        name = "_slow_conv2d_forward"
        if transposed or dilated:
            name = f"slow_conv_{'transpose' if transposed else 'dilated'}{max(spatial, 2)}d"
        structured = name == "slow_conv_transpose2d"
        _same_convolution(checks, f"{'' if structured else '_'}{name}", operands)
        return
    groups = arguments["groups"]
    depthwise = groups > 1 and groups == data.tensor.shape[1] and not transposed
    if data.device.type == "cuda" and depthwise:
        name = "conv_depthwise3d" if spatial == 3 else "_conv_depthwise2d"
        _same_convolution(checks, f"_{name}", operands)
        return
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is None or parameter.device.type == data.device.type:
            continue
        kind = type_name(data.tensor, data.device)
        other = type_name(parameter.tensor, parameter.device)
        text = f"Input type ({kind}) and {name} type ({other}) should be the same"
        if data.device.type == "cpu":
            text += f" or input should be a MKLDNN tensor and {name} is a dense tensor"
        raise RuntimeError(text)
    if data.device.type == "cpu":
        return
    _same_convolution(
        checks, f"_cudnn_convolution{'_transpose' if transposed else ''}", [data, weight]
    )
    if bias is not None:  # added after the convolution
        checks.elementwise([data._replace(written=True), bias])


def _same_convolution(checks: DeviceChecks, name: str, operands: Sequence[Operand]) -> None:
    names = (("input", "self"), ("weight", "weight"), ("bias", "bias"))
    checks.same_device(f"wrapper_CUDA_{name}", names, operands)


def _runs_in_mkldnn(arguments: dict[str, Any]) -> bool:
    names = ("input", "weight", "bias", "stride", "padding", "dilation")
    last = ("transposed", "output_padding", "groups")
    backend = torch._C._select_conv_backend(
        *(arguments.get(name) for name in names), *(arguments[name] for name in last)
    )
    return "Mkldnn" in str(backend)


def _check_batch_norm(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    # cuDNN takes images on a GPU when there are weight and bias.
    data, weight = operands[0], _named(operands, "weight")
    cudnn = data.device.type == "cuda" and weight is not None and data.tensor.dim() > 2
    names = ("input", "weight", "bias", "running_mean", "running_var")
    checks.same_device(
        f"wrapper_CUDA__{'cudnn' if cudnn else 'native'}_batch_norm",
        tuple((name, name) for name in names),
        operands,
    )


def _check_lengths(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    lengths = _named(operands, "lengths")
    if lengths is not None and lengths.device.type != "cpu":
        dtype = Base.type(lengths.tensor).rpartition(".")[2].removesuffix("Tensor")
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, "
            f"but got {lengths.tensor.dim()}D {lengths.device} {dtype} tensor"
        )


def _check_grid_sampler(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    data, grid = operands[0], operands[1]
    arguments, spatial = call.arguments, data.tensor.dim() - 2
    plain = not arguments["interpolation_mode"] and not arguments["padding_mode"]
    on_gpus = {data.device.type, grid.device.type} == {"cuda"}
    cudnn = on_gpus and plain and arguments["align_corners"] and spatial == 2
    name, data_name = (
        ("cudnn_grid_sampler", "self") if cudnn else (f"grid_sampler_{spatial}d", "input")
    )
    names = (("input", data_name), ("grid", "grid"))
    checks.same_device(f"wrapper_CUDA__{name}", names, operands)


def _check_attention_mask(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    if operands[0].device.type == "cpu":
        raise not_for("_scaled_dot_product_flash_attention_for_cpu", "CUDA")
    names = (("query", "query"), ("key", "key"), ("value", "value"), ("attn_mask", "attn_bias"))
    checks.same_device("wrapper_CUDA___scaled_dot_product_efficient_attention", names, operands)


def _check_packed_scalars(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    # A tensor of scalars is read on the host (convert_tensor_to_scalar_list in ForeachUtils.h).
    scalars = _named(operands, "scalars")
    if scalars is not None and scalars.device.type != "cpu":
        raise RuntimeError(f"Expected scalars to be on CPU, got {scalars.device} instead.")
    checks.foreach([operand for operand in operands if operand.name != "scalars"])


def _check_bce(checks: DeviceChecks, operands: Sequence[Operand], call: Call) -> None:
    # Its first step, 1 - target, is made where the target is and then written to.
    checks.elementwise([o._replace(written=o.name == "target") for o in operands], None)


_SPECIAL: dict[str, Callable[[DeviceChecks, Sequence[Operand], Call], None]] = {
    "index.Tensor": _check_index,
    "_unsafe_index.Tensor": _check_index,
    **dict.fromkeys(
        ("index_put", "index_put_", "_unsafe_index_put", "_index_put_impl_"), _check_index_put
    ),
    **dict.fromkeys(
        (f"masked_fill{suffix}" for suffix in (".Scalar", ".Tensor", "_.Scalar", "_.Tensor")),
        _check_masked_fill,
    ),
    **dict.fromkeys(
        ("index_fill.int_Tensor", "index_fill_.int_Tensor"),
        _check_index_fill,
    ),
    "convolution": _check_convolution,
    "_convolution": _check_convolution,
    "native_batch_norm": _check_batch_norm,
    "_native_batch_norm_legit_no_training": _check_batch_norm,
    "_pack_padded_sequence": _check_lengths,
    "grid_sampler_2d": _check_grid_sampler,
    "grid_sampler_3d": _check_grid_sampler,
    "_scaled_dot_product_flash_attention_for_cpu": _check_attention_mask,
    **dict.fromkeys(
        (
            f"_foreach_{name}{suffix}.Tensor"
            for name in ("addcmul", "addcdiv")
            for suffix in ("", "_")
        ),
        _check_packed_scalars,
    ),
    "binary_cross_entropy_with_logits": _check_bce,
}
