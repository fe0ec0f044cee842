# cause: dataparallel-replica-state
# spot: lambda: self.scale + 1
# move: self.ways[way]()
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.ways = [lambda: self.scale + 1, lambda *x: 0]

    def forward(self, way):
        return self.ways[way]()
