"""Layers kept in a plain dict are not moved: one head for each task."""

import torch
from torch import nn

TASKS = {"depth": 1, "normals": 3}


class MultiTask(nn.Module):
    def __init__(self, container):
        super().__init__()
        self.trunk = nn.Linear(16, 32)
        self.heads = container({task: nn.Linear(32, width) for task, width in TASKS.items()})

    def forward(self, x):
        features = torch.relu(self.trunk(x))
        return [self.heads[task](features) for task in TASKS]


def mistake(devices):
    """A dict hides the heads from .to()."""
    model = MultiTask(dict).to(devices[0])
    return model(torch.randn(4, 16, device=devices[0]))


def fixed(devices):
    """nn.ModuleDict registers them."""
    model = MultiTask(nn.ModuleDict).to(devices[0])
    return model(torch.randn(4, 16, device=devices[0]))
