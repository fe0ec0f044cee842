"""A layer as a library ships it; nothing here is run."""
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)), persistent=False)  # finds: unregistered-tensor
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        t = torch.arange(x.shape[1], device=x.device)
        angles = torch.outer(t.float(), self.inv_freq)
        return self.out(x * torch.cat((angles, angles), dim=-1).cos())
