import numpy as np
import torch
from torch import nn


class Bessel(nn.Module):
    def __init__(self, r_max, num_basis=8, trainable=True):
        super().__init__()

        self.trainable = trainable
        self.r_max = float(r_max)
        self.prefactor = 2.0 / self.r_max

        self.roots = torch.linspace(
            start=1.0, end=num_basis, steps=num_basis
        ) * torch.Tensor([np.pi])

        if self.trainable:
            self.roots = nn.Parameter(self.roots)

    def forward(self, x):
        numerator = torch.sin(self.roots * x.unsqueeze(-1) / self.r_max)

        return self.prefactor * (numerator / x.unsqueeze(-1))
