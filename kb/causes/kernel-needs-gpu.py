"""A GPU-only kernel got cpu tensors."""

import torch


def fused_rms_norm(x, weight):
    """Stands for a Triton kernel; its launcher takes GPU addresses only."""
    for position, tensor in enumerate((x, weight)):
        if tensor.device.type != "cuda":
            raise ValueError(
                f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)"
            )
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def mistake(devices):
    """The activations are on the GPU, the weight was loaded to the cpu."""
    hidden = torch.randn(4, 16, device=devices[0])
    weight = torch.ones(16)
    return fused_rms_norm(hidden, weight)


def fixed(devices):
    """All operands of the kernel are on the GPU."""
    hidden = torch.randn(4, 16, device=devices[0])
    weight = torch.ones(16).to(hidden.device)
    return fused_rms_norm(hidden, weight)
