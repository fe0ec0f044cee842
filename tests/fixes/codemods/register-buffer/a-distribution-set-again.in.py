# spot: self.base = Normal(torch.zeros(dim), torch.ones(dim))
import torch
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


class Flow(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.base = Normal(torch.zeros(dim), torch.ones(dim))

    def widen(self):
        self.base = Normal(self.base.loc, 2 * self.base.scale)
