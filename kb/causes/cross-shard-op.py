"""Tensors from two model shards are combined: the skip connection of a network split over two GPUs."""

import torch
from torch import nn


class SplitUNet(nn.Module):
    def __init__(self, devices):
        super().__init__()
        self.down = nn.Linear(16, 16).to(devices[0])
        self.up = nn.Linear(16, 16).to(devices[1])
        self.out = nn.Linear(32, 4).to(devices[1])

    def forward(self, x, move_skip):
        skip = self.down(x)
        hidden = self.up(skip.to(self.up.weight.device))
        if move_skip:
            skip = skip.to(hidden.device)
        return self.out(torch.cat([hidden, skip], dim=-1))


def mistake(devices):
    """The skip of the first GPU is concatenated with an activation of the second."""
    model = SplitUNet(devices)
    return model(torch.randn(4, 16, device=devices[0]), move_skip=False)


def fixed(devices):
    """The skip is moved to the device of the shard that uses it."""
    model = SplitUNet(devices)
    return model(torch.randn(4, 16, device=devices[0]), move_skip=True)
