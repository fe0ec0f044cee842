# cause: dataparallel-replica-state
# spot: getattr(self, f'_{way}')
# move: self.way(x)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.way = getattr(self, f"_{way}")

    def _up(self, x):
        return x * self.scale

    def forward(self, x):
        return self.way(x)
