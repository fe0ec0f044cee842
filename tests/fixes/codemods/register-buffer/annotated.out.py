# spot: self.mean: torch.Tensor = torch.tensor(MEAN)
import torch
from torch import nn


class Normalize(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean: torch.Tensor
        self.register_buffer("mean", torch.tensor(MEAN), persistent=False)
