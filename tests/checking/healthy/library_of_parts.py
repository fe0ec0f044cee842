# A library's file: what it builds is moved by whoever uses it, whole.
import torch
from torch import nn


def small_net(**options):
    return Net(width=8, **options)


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        x = x.reshape(x.shape[0], -1) * self.gain[None, :]
        both = torch.cat([self.query.bias, self.key.bias])
        return nn.functional.linear(x, self.query.weight) + both[: x.shape[1]]


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.scale = Scale(width)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        return self.out(self.scale(x))
