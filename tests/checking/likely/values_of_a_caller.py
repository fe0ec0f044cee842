import torch
from torch import nn


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, x, prices):
        costs = torch.tensor([prices, prices])  # finds: created-without-device
        return self.score(x) * costs
