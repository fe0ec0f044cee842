"""A tensor was created without device=: the position ids of a small encoder."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, follow_input):
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.places = nn.Embedding(64, 16)
        self.follow_input = follow_input

    def forward(self, ids):
        if self.follow_input:
            positions = torch.arange(ids.shape[1], device=ids.device)
        else:
            positions = torch.arange(ids.shape[1])
        return self.words(ids) + self.places(positions)


def mistake(devices):
    """arange puts the positions on the default device, the cpu."""
    encoder = Encoder(follow_input=False).to(devices[0])
    return encoder(torch.randint(100, (2, 8), device=devices[0]))


def fixed(devices):
    """The positions are made on the device of the ids."""
    encoder = Encoder(follow_input=True).to(devices[0])
    return encoder(torch.randint(100, (2, 8), device=devices[0]))
