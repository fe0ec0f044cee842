# cause: dataparallel-replica-state
# spot: self._up
# move: self.ways[way](x)
from torch import nn


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = nn.Parameter(scale)
        self.ways = {
            "up": type(self)._up,  # the usual one
            "down": type(self)._down,
        }

    def _up(self, x):
        return x * self.scale

    def _down(self, x):
        return x / self.scale

    def rest(self):
        return self.ways["down"](self)

    def forward(self, x, way):
        assert way in self.ways
        return self.ways[way](self, x)
