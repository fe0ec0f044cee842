# spot: self.prior
import torch
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


class Flow(nn.Module):
    def __init__(self, dim, k):
        super().__init__()
        self.prior = MixtureSameFamily(
            Categorical(torch.ones(k)), Independent(Normal(torch.randn(k, dim), torch.ones(k, dim)), 1)
        )
