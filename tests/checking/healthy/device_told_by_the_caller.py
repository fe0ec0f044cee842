# The device of a class is what its caller says, not the default of its argument.
import torch
from torch import nn


class Budget(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.device = device
        self.cost = nn.Parameter(torch.rand(3))

    def forward(self, x):
        prices = torch.tensor([1.0, 2.0, 4.0], device=self.device)
        return (x * self.cost * prices).sum()


class Neighbours:
    def __init__(self, count, device=None):
        self.table = torch.zeros(count, 2, dtype=torch.long, device=device)

    def add(self, rows):
        rows = rows.to("cuda")
        return torch.cat([self.table, rows])
