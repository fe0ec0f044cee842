# spot: self.base = Normal(loc, torch.ones(dim))
import torch
from torch import nn
from torch.distributions import Normal


class Flow(nn.Module):
    def __init__(self, dim):
        super().__init__()
        loc = torch.zeros(dim)
        self.register_buffer("base_loc", loc, persistent=False)
        self.register_buffer("base_scale", torch.ones(dim), persistent=False)

    @property
    def base(self):
        return Normal(self.base_loc, self.base_scale)
