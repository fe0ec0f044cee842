import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def start(self, rows):
        return torch.zeros(rows, 8)  # finds: created-without-device

    def forward(self, x):
        state = self.start(x.size(0))
        return self.cell(x) + state
