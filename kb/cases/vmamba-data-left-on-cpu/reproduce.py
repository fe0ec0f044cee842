"""A batch on the cpu reaches a selective scan that exists for CUDA only.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the kernel's error,
``python reproduce.py fixed`` moves the batch and prints "fixed: ok". ``selective_scan_cuda`` makes
the kernel's check and then does a plain scan.
"""

import sys

import torch
from torch import nn


def torch_check(condition, text):
    """What TORCH_CHECK without a message prints."""
    if not condition:
        raise RuntimeError(
            f"Expected {text} to be true, but got false.  (Could this error message be improved?"
            "  If so, please report an enhancement request to PyTorch.)"
        )


class selective_scan_cuda:
    @staticmethod
    def fwd(u, delta):
        torch_check(u.is_cuda, "u.is_cuda()")
        torch_check(delta.is_cuda, "delta.is_cuda()")
        return (u * delta).cumsum(-1)


class SelectiveScanFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, delta):
        return selective_scan_cuda.fwd(u, delta)


class VSSM(nn.Module):
    def __init__(self):
        super().__init__()
        self.delta = nn.Parameter(torch.ones(4, 1))

    def forward(self, x):
        return SelectiveScanFn.apply(x, self.delta)


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
