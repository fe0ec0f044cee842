"""The decay parameters of a linear attention layer are read where an offload has parked them.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` casts them like the convolution's weight and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


def cast_to_device(tensor, device, dtype):
    return tensor.to(device=device, dtype=dtype)


class GatedDeltaNet(nn.Module):
    def __init__(self, dim, heads, variant):
        super().__init__()
        self.heads, self.variant = heads, variant
        self.in_proj = nn.Parameter(torch.randn(dim + 2 * heads, dim) * 0.1)
        self.conv1d = nn.Conv1d(dim, dim, 3, groups=dim, bias=False)
        self.A_log = nn.Parameter(torch.rand(heads))
        self.dt_bias = nn.Parameter(torch.ones(heads))

    def gate(self, a):
        A_log, dt_bias = self.A_log, self.dt_bias
        if self.variant == "fixed":
            A_log = cast_to_device(A_log, a.device, torch.float32)
            dt_bias = cast_to_device(dt_bias, a.device, torch.float32)
        step = F.softplus((a + dt_bias).float())
        return -step * A_log.float().exp()

    def forward(self, x):
        mixed = F.linear(x, cast_to_device(self.in_proj, x.device, x.dtype))
        value, a, b = mixed.split([x.shape[-1], self.heads, self.heads], dim=-1)
        weight = cast_to_device(self.conv1d.weight, x.device, x.dtype)
        value = F.conv1d(F.pad(value.mT, (2, 0)), weight, groups=weight.shape[0]).mT
        decay, beta = self.gate(a).exp(), b.sigmoid()
        state, outputs = torch.zeros_like(value[:, 0]), []
        for step in range(x.shape[1]):
            keep, write = decay[:, step].mean(-1, True), beta[:, step].mean(-1, True)
            state = keep * state + write * value[:, step]
            outputs.append(state)
        return torch.stack(outputs, dim=1)


def main(variant):
    torch.manual_seed(0)
    layer = GatedDeltaNet(8, heads=2, variant=variant)  # parked on the cpu
    with torch.no_grad():
        out = layer(torch.randn(1, 5, 8, device="cuda:0"))
    assert out.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
