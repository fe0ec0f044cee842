"""A batch on the cpu reaches a selective scan that exists for CUDA only.

Needs torch, mamba_ssm's ``selective_scan_cuda`` (simulated GPUs bring it) and one GPU.
``python reproduce.py failing`` ends in the kernel's error, ``python reproduce.py fixed`` moves the batch
and prints "fixed: ok".
"""

import sys

import selective_scan_cuda
import torch
from torch import nn


class SelectiveScanFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, delta, A, B, C):
        out, x, *rest = selective_scan_cuda.fwd(u, delta, A, B, C, None, None, None, True)
        return out


class VSSM(nn.Module):
    def __init__(self, dim=4, state=2):
        super().__init__()
        self.A = nn.Parameter(-torch.rand(dim, state))
        self.B = nn.Parameter(torch.randn(dim, state))
        self.C = nn.Parameter(torch.randn(dim, state))

    def forward(self, x):
        delta = torch.ones_like(x)
        return SelectiveScanFn.apply(x, delta, self.A, self.B, self.C)


def main(variant):
    device = torch.device("cuda:0")
    model = VSSM().to(device)
    images = torch.randn(2, 4, 16)
    if variant == "fixed":
        images = images.to(device)
    model(images)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
