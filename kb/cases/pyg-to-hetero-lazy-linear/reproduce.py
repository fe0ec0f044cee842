"""Copying a lazy layer that was moved to the GPU gives one whose weight is born on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` copies the device too and prints "fixed: ok".
``Linear`` is lazy as PyG's is: its weight gets its shape in the first forward, on the device that
the parameter without elements is on. to_hetero() makes one copy for each edge type.
"""

import copy
import sys

import torch
from torch import nn
from torch.nn.functional import linear


class Linear(nn.Module):
    copies_device = False

    def __init__(self, out_channels, device=None):
        super().__init__()
        self.out_channels = out_channels
        self.weight = nn.Parameter(torch.empty(0, device=device))

    def __deepcopy__(self, memo):
        # A parameter without a shape cannot be copied, so a new layer is made.
        device = self.weight.device if self.copies_device else None
        return Linear(self.out_channels, device=device)

    def forward(self, x):
        if self.weight.numel() == 0:
            weight = torch.empty(self.out_channels, x.shape[-1], device=self.weight.device)
            self.weight = nn.Parameter(nn.init.kaiming_uniform_(weight))
        return linear(x, self.weight)


def to_hetero(module, edge_types):
    return nn.ModuleDict({edge_type: copy.deepcopy(module) for edge_type in edge_types})


class Model(nn.Module):
    def __init__(self, edge_types):
        super().__init__()
        self.encoder = to_hetero(Linear(2).to("cuda"), edge_types)

    def forward(self, x_dict):
        return {name: self.encoder[name](x) for name, x in x_dict.items()}


def main(variant):
    torch.manual_seed(0)
    Linear.copies_device = variant == "fixed"
    model = Model(["e0", "e1"])
    model({name: torch.rand(3, 4, device="cuda") for name in ("e0", "e1")})
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
