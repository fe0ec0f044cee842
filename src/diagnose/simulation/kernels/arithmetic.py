"""What the functions of compiled extensions compute, written anew over torch's operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn.functional import grid_sample, silu, softplus

COMPUTED: dict[str, Callable[..., Any]] = {}
"""By the function's full name."""


def _computes(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPUTED[name] = function
        return function

    return register


def _gradients(
    function: Callable[..., Any], inputs: Sequence[Any], gradient: Any
) -> list[torch.Tensor | None]:
    """The gradients of a function's floating inputs; None in the place of the others."""
    taken = [x.detach().requires_grad_() if _trained(x) else x for x in inputs]
    with torch.enable_grad():
        result = function(*taken)
    found = iter(torch.autograd.grad(result, [x for x in taken if _trained(x)], gradient))
    return [next(found) if _trained(x) else None for x in taken]


def _trained(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


# --- mamba_ssm: the selective scan ---


@_computes("selective_scan_cuda.fwd")
def _scan(
    u: Any, delta: Any, A: Any, B: Any, C: Any, D: Any, z: Any, delta_bias: Any, softly: bool
) -> list[Any]:
    out, state = _scanned(u, delta, A, B, C, D, None, delta_bias, softly=softly)
    gated = [] if z is None else [out * silu(z)]
    return [out, torch.stack([torch.ones_like(state), state], -1).flatten(-2)[:, :, None], *gated]


@_computes("selective_scan_cuda.bwd")
def _scan_back(
    u: Any, delta: Any, A: Any, B: Any, C: Any, D: Any, z: Any, delta_bias: Any, dout: Any,
    x: Any, out: Any, dz: Any, softly: bool, recompute: bool,
) -> list[Any]:  # fmt: skip
    def gated(*given: Any) -> Any:
        return _scanned(*given, softly=softly)[0]

    inputs = (u, delta, A, B, C, D, z, delta_bias)
    *found, z_found, bias_found = _gradients(gated, inputs, dout)
    if dz is not None:
        dz.copy_(z_found)
        z_found = dz
    again = [gated(*inputs)] if recompute and z is not None else []
    return [*found, bias_found, *([] if z is None else [z_found]), *again]


def _scanned(
    u: Any, delta: Any, A: Any, B: Any, C: Any, D: Any, z: Any, delta_bias: Any, *, softly: bool
) -> tuple[Any, Any]:
    """The recurrence h' = exp(delta A) h + delta B u, y = C h + D u, and its last state."""
    step = delta if delta_bias is None else delta + delta_bias[:, None]
    step = softplus(step) if softly else step
    over_time = [_of_each_step(x, u) for x in (B, C)]
    state = torch.zeros((*u.shape[:2], A.shape[1]), dtype=A.dtype, device=u.device)
    results = []
    for t in range(u.shape[2]):
        into, out_of = (x[..., t] for x in over_time)
        now = step[:, :, t, None]
        state = torch.exp(now * A) * state + now * into * u[:, :, t, None]
        results.append((state * out_of).sum(-1))
    y = torch.stack(results, -1).to(u.dtype)
    y = y if D is None else y + D[:, None] * u
    return (y if z is None else y * silu(z)), state


def _of_each_step(x: Any, u: Any) -> Any:
    """B or C as (batch, dim, state, length), however few of these it varies over."""
    batch, dim, length = u.shape
    if x.dim() == 2:
        return x[None, :, :, None].expand(batch, -1, -1, length)
    return (
        x.repeat_interleave(dim // x.shape[1], 1)
        if x.dim() == 4
        else x[:, None].expand(-1, dim, -1, -1)
    )


# --- Deformable DETR: samples of several levels, weighed ---


@_computes("MultiScaleDeformableAttention.ms_deform_attn_forward")
def _attend(value: Any, shapes: Any, starts: Any, locations: Any, weights: Any, step: int) -> Any:
    batch, _, heads, width = value.shape
    queries = locations.shape[1]
    total: Any = 0
    for level, ((high, wide), start) in enumerate(
        zip(shapes.tolist(), starts.tolist(), strict=True)
    ):
        image = value[:, start : start + high * wide].permute(0, 2, 3, 1)
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        found = grid_sample(
            image.reshape(batch * heads, width, high, wide), grid, align_corners=False
        )
        weight = weights[:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]
        total = total + (found * weight).sum(-1)
    return total.view(batch, heads * width, queries).transpose(1, 2).contiguous()


@_computes("MultiScaleDeformableAttention.ms_deform_attn_backward")
def _attend_back(
    value: Any, shapes: Any, starts: Any, locations: Any, weights: Any, gradient: Any, step: int
) -> list[Any]:
    def attend(value: Any, locations: Any, weights: Any) -> Any:
        return _attend(value, shapes, starts, locations, weights, step)

    return _gradients(attend, (value, locations, weights), gradient)


# --- OpenFold: softmax in place ---


@_computes("attn_core_inplace_cuda.forward_")
def _softmax(logits: Any, rows: int, cols: int) -> None:
    logits.copy_(torch.softmax(logits, -1))


@_computes("attn_core_inplace_cuda.backward_")
def _softmax_back(
    output: Any, d_ov: Any, values: Any, rows: int, cols_output: int, cols_values: int
) -> None:
    gradient = d_ov @ values.mT
    output.copy_((gradient - (gradient * output).sum(-1, keepdim=True)) * output)


# --- PointNet++: which points, and what stands there ---


@_computes("pointnet2_ops._ext.furthest_point_sampling")
def _furthest(points: Any, count: int) -> Any:
    every = torch.arange(len(points), device=points.device)
    chosen = [torch.zeros_like(every)]
    distance = torch.full(points.shape[:2], torch.inf, device=points.device)
    for _ in range(count - 1):
        last = points[every, chosen[-1]]
        distance = torch.minimum(distance, (points - last[:, None]).pow(2).sum(-1))
        chosen.append(distance.argmax(-1))
    return torch.stack(chosen, 1).int()


@_computes("pointnet2_ops._ext.ball_query")
def _within(new_xyz: Any, xyz: Any, radius: float, count: int) -> Any:
    near = torch.cdist(new_xyz, xyz) < radius
    order = torch.argsort(near.int(), dim=-1, descending=True, stable=True)[..., :count]
    found = near.gather(-1, order)
    first = torch.where(found[..., :1], order[..., :1], 0)
    return torch.where(found, order, first).int()


@_computes("pointnet2_ops._ext.gather_points")
@_computes("pointnet2_ops._ext.group_points")
def _gather(points: Any, idx: Any) -> Any:
    flat = idx.long().flatten(1)[:, None].expand(-1, points.shape[1], -1)
    return points.gather(2, flat).unflatten(2, idx.shape[1:])


@_computes("pointnet2_ops._ext.gather_points_grad")
@_computes("pointnet2_ops._ext.group_points_grad")
def _gather_back(gradient: Any, idx: Any, count: int) -> Any:
    flat = idx.long().flatten(1)[:, None].expand(-1, gradient.shape[1], -1)
    zeros = gradient.new_zeros((*gradient.shape[:2], count))
    return zeros.scatter_add(2, flat, gradient.flatten(2))


# --- apex: one operation on many tensors ---


@_computes("amp_C.multi_tensor_scale")
def _scale(chunk_size: int, noop_flag: Any, tensor_lists: Any, scale: float) -> None:
    for source, target in zip(*tensor_lists, strict=True):
        target.copy_(source * scale)
        noop_flag.fill_(int(noop_flag.item() or not source.isfinite().all()))


@_computes("amp_C.multi_tensor_l2norm")
def _l2norm(
    chunk_size: int, noop_flag: Any, tensor_lists: Any, per_tensor: bool = False
) -> tuple[Any, Any]:
    norms = torch.stack([tensor.float().norm() for tensor in tensor_lists[0]])
    return norms.norm()[None], norms if per_tensor else norms.new_empty(0)


@_computes("amp_C.multi_tensor_adam")
def _adam(
    chunk_size: int, noop_flag: Any, tensor_lists: Any, lr: float, beta1: float, beta2: float,
    epsilon: float, step: int, mode: int, bias_correction: int, weight_decay: float,
) -> None:  # fmt: skip
    first, second = (1 - beta1**step, 1 - beta2**step) if bias_correction else (1.0, 1.0)
    for gradient, parameter, mean, square in zip(*tensor_lists, strict=True):
        decayed = gradient + weight_decay * parameter if mode == 0 else gradient
        mean.lerp_(decayed.to(mean.dtype), 1 - beta1)
        square.mul_(beta2).addcmul_(decayed, decayed, value=1 - beta2)
        update = (mean / first) / ((square / second).sqrt() + epsilon)
        parameter.sub_(lr * (update + weight_decay * parameter if mode == 1 else update))
