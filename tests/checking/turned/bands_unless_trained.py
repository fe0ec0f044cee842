import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self, count=8, trained=True):
        super().__init__()
        bands = torch.linspace(1.0, float(count), count)
        if trained:
            self.bands = nn.Parameter(bands)
        else:
            self.bands = bands  # finds: unregistered-tensor
        self.mix = nn.Linear(count, 1)

    def forward(self, distance):
        return self.mix(torch.sin(self.bands * distance.unsqueeze(-1)))
