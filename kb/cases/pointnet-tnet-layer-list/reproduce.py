"""Layers of a T-Net are registered one by one or kept in a list; only the list is left behind.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers the same layers and prints "fixed: ok".
The program tries the ways in turn: nn.Sequential, attributes, a list of layers that are attributes
as well, and (failing) a list of layers that nothing else holds.
"""

import sys

import torch
from torch import nn


def layers(k):
    return [nn.Conv1d(k, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 16, 1)]


class TNet(nn.Module):
    def __init__(self, k, way):
        super().__init__()
        made = layers(k)
        if way == "sequential":
            self.shared_mlp = nn.Sequential(*made)
        elif way == "attributes":
            self.s0, self.s1, self.s2, self.s3 = made
            self.shared_mlp = [self.s0, self.s1, self.s2, self.s3]
        elif way == "list":
            self.shared_mlp = made
        else:
            self.shared_mlp = nn.ModuleList(made)

    def forward(self, x):
        if isinstance(self.shared_mlp, nn.Sequential):
            return self.shared_mlp(x)
        for layer in self.shared_mlp:
            x = layer(x)
        return x


class PointNet(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.input_transform = TNet(3, way)

    def forward(self, points):
        return self.input_transform(points).amax(dim=-1)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    points = torch.rand(2, 3, 10, device=device)
    for way in ("sequential", "attributes", "list" if variant == "failing" else "module list"):
        print("way:", way, file=sys.stderr)
        PointNet(way).to(device)(points)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
