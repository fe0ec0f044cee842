# spot: self.heads = dict(train=nn.Linear(3, 3))
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = dict(train=nn.Linear(3, 3))

    def add(self, name):
        self.heads.update({name: nn.Linear(3, 3)})
