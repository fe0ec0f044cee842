# cause: dataparallel-replica-state
# spot: self._up
# move: way(x)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.ways = [type(self)._up, type(self)._up]

    def _up(self, x):
        return x * self.scale

    def forward(self, x):
        for way in self.ways:
            x = way(self, x)
        return x
