# spot: self.heads = {i: nn.Linear(n, n) for i in range(3)}
from torch import nn


class Heads(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.heads = {i: nn.Linear(n, n) for i in range(3)}
        self.heads_modules = nn.ModuleList(self.heads.values())
