import torch
from torch import nn


class Map(nn.Module):
    def __init__(self, points):
        super().__init__()
        self.count = points.shape[0]
        self.points = torch.tensor(points)  # finds: unregistered-tensor
        self.flat = nn.Linear(3, 2)

    def forward(self):
        return self.flat(self.points)
