# spot: self.pe = torch.zeros(length, width)
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        # one row a position
        self.pe = torch.zeros(length, width)  # learned later
        self.norm = nn.LayerNorm(width)
