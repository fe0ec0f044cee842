# spot: self.base = Normal(torch.zeros(dim), torch.ones(dim))
import torch
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


class Flow(nn.Module):
    def __init__(self, dim, gaussian):
        super().__init__()
        if gaussian:
            self.base = Normal(torch.zeros(dim), torch.ones(dim))
