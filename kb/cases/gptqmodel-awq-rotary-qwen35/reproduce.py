"""A quantizer has one layer at a time on the GPU, and asks a rotary module that is on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps a copy of it for each device and prints "fixed: ok".
"""

import copy
import sys

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        inv_freq = 10000.0 ** -(torch.arange(0, dim, 2) / dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, length):
        steps = torch.arange(length, device=self.inv_freq.device)
        angles = torch.outer(steps, self.inv_freq).repeat(1, 2)
        return angles.cos(), angles.sin()


class LinearAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.in_proj = nn.Linear(width, width, bias=False)

    def forward(self, x, position_embeddings=None):
        return x + self.in_proj(x).cumsum(1)


class SelfAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qk_proj = nn.Linear(width, width, bias=False)

    def forward(self, x, position_embeddings):
        cos, sin = position_embeddings
        qk = self.qk_proj(x)
        first, second = qk.chunk(2, dim=-1)
        qk = qk * cos + torch.cat([-second, first], dim=-1) * sin
        return x + (qk @ qk.transpose(1, 2)).softmax(-1) @ x


class AwqProcessor:
    def __init__(self, rotary, variant):
        self.rotary, self.variant = rotary, variant
        self.copies = {}

    def rotary_for(self, device):
        if self.variant == "failing":
            return self.rotary
        if device not in self.copies:
            self.copies[device] = copy.deepcopy(self.rotary).to(device)
        return self.copies[device]

    def best_scale(self, layer, x):
        """Tries scales on the layer's input and keeps the one with the smallest error."""
        kwargs = {}
        if isinstance(layer, SelfAttention):
            kwargs["position_embeddings"] = self.rotary_for(x.device)(x.shape[1])
        expected = layer(x, **kwargs)
        errors = [
            ((layer((x * s).round(decimals=1) / s, **kwargs) - expected) ** 2).mean()
            for s in (0.5, 1.0, 2.0)
        ]
        return int(torch.stack(errors).argmin()), expected


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    layers = [LinearAttention(8), LinearAttention(8), LinearAttention(8), SelfAttention(8)]
    processor = AwqProcessor(Rotary(8), variant)
    x = torch.randn(2, 6, 8, device="cuda:0")
    for index, layer in enumerate(layers):
        layer.to("cuda:0")
        scale, x = processor.best_scale(layer, x)
        layer.to("cpu")
        print("layer", index, "scale", scale)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
