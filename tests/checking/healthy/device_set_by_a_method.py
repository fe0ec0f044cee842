# Where random numbers are drawn is set after the object was made.
import torch
from torch import nn


class Jitter(nn.Module):
    def __init__(self, strength):
        super().__init__()
        self.strength = nn.Parameter(torch.full((4,), strength))
        self.where = torch.device("cpu")

    def noise(self):
        return self.strength * torch.rand(4, device=self.where)

    def draw_on(self, where):
        self.where = where
        return self

    def forward(self, x):
        return x + self.noise()
