# cause: dataparallel-replica-state
# spot: self._up
# move: self.way(x)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, up):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.way = type(self)._up if up else (lambda self, *given: torch.sin(*given))

    def _up(self, x):
        return x * self.scale

    def forward(self, x):
        return self.way(self, x)
