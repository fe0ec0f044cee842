"""Sinusoidal positions follow the model's dtype but not its device, when that is the second GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` follows the device as well and prints "fixed: ok".
The table is a plain attribute, adapted in each forward to a small buffer. type() with a cuda type
means the current GPU, which is the first one.
"""

import sys

import torch
from torch import nn


def sinusoids(length, width):
    """One row a position: sines and cosines of it, from one radian to a ten-thousandth."""
    angles = torch.outer(torch.arange(length).float(), torch.logspace(0, -4, width // 2))
    return torch.hstack((angles.sin(), angles.cos()))


class SinusoidalPositionalEmbedding(nn.Module):
    def __init__(self, embedding_dim, init_size, variant):
        super().__init__()
        self.variant = variant
        self.weights = sinusoids(init_size, embedding_dim)
        self.register_buffer("_float_tensor", torch.zeros(1), persistent=False)

    def forward(self, positions):
        if self.variant == "failing":
            self.weights = self.weights.type(self._float_tensor.type())
        else:
            self.weights = self.weights.to(self._float_tensor)
        return torch.stack([self.weights.index_select(0, row) for row in positions])


class Encoder(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.embed_tokens = nn.Embedding(16, 8)
        self.embed_positions = SinusoidalPositionalEmbedding(8, 12, variant)

    def forward(self, src_tokens):
        positions = torch.arange(src_tokens.shape[1], device=src_tokens.device)
        x = self.embed_tokens(src_tokens)
        return x + self.embed_positions(positions.expand_as(src_tokens))


def main(variant):
    device = torch.device("cuda:1")
    encoder = Encoder(variant).to(device)
    encoder(torch.tensor([[3, 4, 5]], device=device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
