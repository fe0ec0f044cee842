"""An operator makes small tensors of sizes and strides while a CUDA graph is captured.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the copy,
``python reproduce.py fixed`` makes them in pinned memory first and prints "fixed: ok".
``broadcast_to`` needs a kernel of FlagGems; here torch expands, and the sizes are only made.
"""

import sys

import torch
from torch import nn


def on_device(numbers, device, variant):
    if variant == "fixed":
        pinned = torch.tensor(numbers, dtype=torch.int64).pin_memory()
        return pinned.to(device, non_blocking=True)
    return torch.tensor(numbers, dtype=torch.int64, device=device)


def broadcast_to(x, out_shape, variant):
    sizes = on_device(list(out_shape), x.device, variant)
    strides = on_device([0] * (len(out_shape) - x.dim()) + list(x.stride()), x.device, variant)
    assert sizes.device == strides.device == x.device
    return x.expand(out_shape)


class Projection(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8, device="cuda"))
        self.bias = nn.Parameter(torch.zeros(8, device="cuda"))

    def forward(self, x, variant):
        return broadcast_to(self.bias, (len(x), 8), variant) + x @ self.weight


def main(variant):
    projection = Projection()
    x = torch.randn(4, 8, device="cuda")
    with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        projection(x, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
