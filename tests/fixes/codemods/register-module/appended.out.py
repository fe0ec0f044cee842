# spot: self.layers = []
from torch.nn import Linear, Module
import torch


class Stack(Module):
    def __init__(self, n):
        super().__init__()
        self.layers = torch.nn.ModuleList([])
        for _ in range(n):
            self.layers.append(Linear(n, n))
