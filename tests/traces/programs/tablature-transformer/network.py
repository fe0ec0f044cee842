import math

import torch
from torch import nn


def sinusoids(length, width):
    """The table of Vaswani et al.: sines in the even columns, cosines in the odd ones."""
    position = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


class TabTransformer(nn.Module):
    """Turns guitar audio features into fret numbers."""

    def __init__(self, features, width=32, frets=20, max_len=512):
        super().__init__()
        self.project = nn.Linear(features, width)
        self.positions = sinusoids(max_len, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.frets = nn.Linear(width, 6 * frets)

    def forward(self, audio):
        hidden = self.project(audio)
        hidden = hidden + self.positions[: hidden.size(1)]
        return self.frets(self.encoder(hidden))
