"""A split model is trained as if it were on one GPU: device_map under DataParallel."""

import torch
from torch import nn


class Model(nn.Module):
    """Two layers placed by a device map, as from_pretrained(device_map=...) does."""

    def __init__(self, device_map):
        super().__init__()
        self.lower = nn.Linear(16, 16).to(device_map["lower"])
        self.upper = nn.Linear(16, 4).to(device_map["upper"])

    def forward(self, x):
        hidden = self.lower(x.to(self.lower.weight.device))
        return self.upper(hidden.to(self.upper.weight.device))


def train_step(model, devices):
    """As a trainer does that finds several GPUs."""
    parallel = nn.DataParallel(model, device_ids=devices)
    parallel(torch.randn(8, 16, device=devices[0])).sum().backward()


def mistake(devices):
    """The model is split over the GPUs over which DataParallel wants to replicate it."""
    train_step(Model({"lower": devices[0], "upper": devices[1]}), devices)


def fixed(devices):
    """Without a split the trainer can replicate it."""
    train_step(Model({"lower": devices[0], "upper": devices[0]}), devices)
