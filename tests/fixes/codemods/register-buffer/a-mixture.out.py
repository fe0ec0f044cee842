# spot: self.prior
import torch
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


class Flow(nn.Module):
    def __init__(self, dim, k):
        super().__init__()
        self.register_buffer("prior_categorical_probs", torch.ones(k), persistent=False)
        self.register_buffer("prior_normal_loc", torch.randn(k, dim), persistent=False)
        self.register_buffer("prior_normal_scale", torch.ones(k, dim), persistent=False)

    @property
    def prior(self):
        return MixtureSameFamily(Categorical(self.prior_categorical_probs), Independent(Normal(self.prior_normal_loc, self.prior_normal_scale), 1))
