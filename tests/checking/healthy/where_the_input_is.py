# What is made where a tensor is, wherever that is: here on the CPU.
from operator import attrgetter

import torch
from torch import nn


class Nested:
    def __init__(self, mask, **more):
        self.mask = mask
        self.__dict__.update(more)


def nested(rows):
    mask = torch.ones(len(rows), 3, dtype=torch.bool, device=rows[0].device)
    return Nested(mask, tensors=torch.stack(rows))


class Places(nn.Module):
    def forward(self, batch):
        x = attrgetter("tensors")(batch)
        steps = torch.arange(3, device=x.device)
        return batch.mask.cumsum(1) / (steps + 1)


class Joined(nn.Module):
    def __init__(self, places):
        super().__init__()
        self.places = places

    def forward(self, rows):
        batch = nested(rows) if isinstance(rows, list) else rows
        return self.places(batch)


print(Joined(Places())([torch.rand(3), torch.rand(3)]).shape)
