"""The inputs are not on the first shard's device."""

import torch
from torch import nn


class SplitModel(nn.Module):
    """The head is registered first, so next(model.parameters()) is on the last GPU."""

    def __init__(self, devices):
        super().__init__()
        self.head = nn.Linear(16, 100).to(devices[1])
        self.embed = nn.Embedding(100, 16).to(devices[0])

    def forward(self, ids):
        return self.head(self.embed(ids).to(self.head.weight.device))


def mistake(devices):
    """The ids go to the device of the model's first parameter, which is the head's."""
    model = SplitModel(devices)
    ids = torch.randint(100, (2, 8))
    return model(ids.to(next(model.parameters()).device))


def fixed(devices):
    """The ids go to the device of the embedding."""
    model = SplitModel(devices)
    ids = torch.randint(100, (2, 8))
    return model(ids.to(model.embed.weight.device))
