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
            "up": self._up,
            "sum": torch.add,
            "own": lambda x, by: x + self.scale,
            "mix": self.mix,
        }
        self.way = ways[way]

    def _up(self, x, by):
        return x * self.scale + by

    def forward(self, x):
        return self.way(x, by=2)
