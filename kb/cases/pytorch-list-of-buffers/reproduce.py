"""Tensors are registered as buffers, and the list made of them beside that is not moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` looks the buffers up when it needs them and prints "fixed: ok".
.to() gives the module new buffers; the list goes on holding the old ones.
"""

import sys

import torch
from torch import nn


class MyModule(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.params = []
        for i in range(4):
            self.register_buffer(f"param_{i}", torch.rand(1, 3))
            self.params.append(getattr(self, f"param_{i}"))

    def tables(self):
        if self.variant == "failing":
            return self.params
        return [getattr(self, f"param_{i}") for i in range(len(self.params))]

    def forward(self, x):
        for param in self.tables():
            x = x * param
        return x


def main(variant):
    a = MyModule(variant)
    a.cuda()
    print("buffer:", a.param_0.device, "list:", a.params[0].device, file=sys.stderr)
    a(torch.rand(2, 3, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
