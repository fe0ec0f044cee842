# cause: unregistered-submodule
# spot: self.heads = self.make_heads()
# name: self.heads
from torch import nn

NAMES = ("left", "right")


class Base(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.heads = self.make_heads()


class One(Base):
    def make_heads(self):
        return nn.Linear(self.size, 1)

    def forward(self, x):
        return self.heads(x)


class Two(Base):
    def make_heads(self):
        return nn.ModuleDict({name: nn.Linear(self.size, 1) for name in NAMES})

    def forward(self, x, name):
        return self.heads[name](x)
