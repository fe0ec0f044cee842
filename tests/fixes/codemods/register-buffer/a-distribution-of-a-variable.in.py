# spot: self.base = Normal(loc, torch.ones(dim))
import torch
from torch import nn
from torch.distributions import Normal


class Flow(nn.Module):
    def __init__(self, dim):
        super().__init__()
        loc = torch.zeros(dim)
        self.base = Normal(loc, torch.ones(dim))
