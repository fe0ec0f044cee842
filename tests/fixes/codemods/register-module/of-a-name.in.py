# spot: self.layers = nn.ModuleListish(layers)
# name: self.layers
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        self.layers = nn.ModuleListish(layers)
