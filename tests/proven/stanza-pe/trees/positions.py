import math

import torch
from torch import nn


class Waves(nn.Module):
    """A table of positions, which grows when a sentence is too long for it."""

    def __init__(self, size, max_len):
        super().__init__()
        self.register_buffer("table", self.build(size, max_len))

    @staticmethod
    def build(size, max_len, device=None):
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, size, 2) * (-math.log(10000.0) / size))
        table = torch.zeros(max_len, size)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        if device is not None:
            table.to(device=device)
        return table

    def forward(self, x):
        if max(x) >= self.table.shape[0]:
            self.register_buffer("table", self.build(self.table.shape[1], max(x) + 1, device=self.table.device))
        return self.table[x]
