# cause: dataparallel-replica-state
# spot: self._up
# move: self.way(x, by=2)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.mix = nn.Linear(1, 1)
        ways = {
            "up": type(self)._up,
            "sum": lambda self, *given, **named: torch.add(*given, **named),
            "own": lambda self, x, by: x + self.scale,
            "mix": lambda self, *given, **named: self.mix(*given, **named),
        }
        self.way = ways[way]

    def _up(self, x, by):
        return x * self.scale + by

    def forward(self, x):
        return self.way(self, x, by=2)
