# spot: self.heads = {"a.b": nn.Linear(3, 3)}
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a.b": nn.Linear(3, 3)}
        self.heads_modules = nn.ModuleList(self.heads.values())
