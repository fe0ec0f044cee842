"""Buffers that are no part of the checkpoint stay on meta after from_pretrained.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` computes them again before the move and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def relative_positions(length, features):
    distance = torch.arange(-length + 1, length).float()
    return torch.exp(-distance.abs()[:, None] / torch.arange(1, features + 1))


class Attention(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        self.length = length
        self.to_v = nn.Linear(dim, dim)
        self.register_buffer("positions", relative_positions(length, dim), persistent=False)

    def forward(self, x):
        return self.to_v(x) + self.positions[: x.shape[1]]


class Borzoi(nn.Module):
    def __init__(self, dim=8, length=16):
        super().__init__()
        self.transformer = nn.ModuleList([Attention(dim, length) for _ in range(2)])

    @classmethod
    def from_pretrained(cls, state_dict):
        with torch.device("meta"):
            model = cls()
        model.load_state_dict(state_dict, assign=True)
        return model

    def forward(self, x):
        for layer in self.transformer:
            x = layer(x)
        return x


def main(variant):
    torch.manual_seed(0)
    checkpoint = Borzoi().state_dict()
    borzoi = Borzoi.from_pretrained(checkpoint)
    if variant == "fixed":
        for layer in borzoi.transformer:
            dim = layer.to_v.in_features
            layer.positions = relative_positions(layer.length, dim)
    borzoi.to("cuda")
    borzoi(torch.randn(1, 16, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
