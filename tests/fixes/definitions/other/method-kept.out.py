# cause: dataparallel-replica-state
# spot: self._up
# move: self.way(x)
from torch import nn


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = nn.Parameter(scale)
        self.way = type(self)._up

    def _up(self, x):
        return x * self.scale

    def forward(self, x, rows):
        return self.way(self, x)
