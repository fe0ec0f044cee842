# spot: self.base = Independent(Normal(torch.zeros(dim), torch.ones(dim)), rank)
import torch
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


class Flow(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.base = Independent(Normal(torch.zeros(dim), torch.ones(dim)), rank)
