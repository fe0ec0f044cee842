"""A low-memory mode left a part on the cpu: it moves Linear layers, and knows nothing else."""

import torch
from torch import nn


class LowVramLinear(nn.Linear):
    """Lies on the cpu; its weights visit the GPU for the time of a call."""

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.device), self.bias.to(x.device))


class MotionModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = LowVramLinear(16, 16)
        self.frame_table = nn.Parameter(torch.randn(8, 16))

    def forward(self, frames, move_table):
        table = self.frame_table.to(frames.device) if move_table else self.frame_table
        return self.project(frames) + table


def mistake(devices):
    """The frame table belongs to no layer that the mode moves."""
    return MotionModule()(torch.randn(2, 8, 16, device=devices[0]), move_table=False)


def fixed(devices):
    """The module brings its own table to the GPU."""
    return MotionModule()(torch.randn(2, 8, 16, device=devices[0]), move_table=True)
