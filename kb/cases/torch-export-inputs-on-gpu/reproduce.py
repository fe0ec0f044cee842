"""A module on the cpu is exported with an example input on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the fake tensors' error (in the
words of the installed torch), ``python reproduce.py fixed`` moves the module first and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn


class TwoLayerMLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc1 = nn.Linear(d, d)
        self.fc2 = nn.Linear(d, d)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def main(variant):
    module = TwoLayerMLP(8).eval().requires_grad_(False)
    if variant == "fixed":
        module.to("cuda")
    example_input = torch.randn(1, 8, device="cuda")
    exported = torch.export.export(module, (example_input,))
    assert exported.graph is not None
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
