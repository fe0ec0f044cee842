# spot: self.layers = layers
from torch import nn


class Stack(nn.Module):
    def __init__(self, n):
        super().__init__()
        layers = []
        for _ in range(n):
            layers.append(nn.Linear(n, n))
        self.layers = nn.ModuleList(layers)
