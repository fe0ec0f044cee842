# cause: unregistered-submodule
# spot: setattr(self, "experts", [])
from torch import nn


class Mixture(nn.Module):
    def __init__(self, n):
        super().__init__()
        setattr(self, "experts", nn.ModuleList())
        for _ in range(n):
            self.experts.append(nn.Linear(3, 3))
