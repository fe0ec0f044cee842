import torch
from torch import nn


class Edges(nn.Module):
    def __init__(self, pictures):
        super().__init__()
        self.filters = []  # finds: unregistered-submodule
        for size in (3, 5):
            self.filters.append(nn.Conv2d(1, 1, size, padding=size // 2))
        self.mask = torch.ones(1, 1, 8, 8, device="cuda:0")
        self.before = [layer(pictures) * self.mask for layer in self.filters]

    def forward(self, x):
        return sum(
            (layer(x) - one).abs().mean()
            for layer, one in zip(self.filters, self.before, strict=True)
        )
