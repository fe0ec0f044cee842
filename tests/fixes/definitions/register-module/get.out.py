# spot: self.heads = {"a": nn.Linear(3, 3)}
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(3, 3)}
        self.heads_modules = nn.ModuleList(self.heads.values())

    def forward(self, task, x):
        return self.heads.get(task)(x)
