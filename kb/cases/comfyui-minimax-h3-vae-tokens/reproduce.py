"""A decoder's own parameters are not among the layers that a partial offload casts.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` casts them where they are used and prints "fixed: ok". ``ops.Linear``
is a layer of the kind that the program knows: its weight visits the GPU for the call.
"""

import sys

import torch
from torch import nn


class ops:
    class Linear(nn.Linear):
        def forward(self, x):
            return nn.functional.linear(x, self.weight.to(x.device), self.bias.to(x.device))


def cast_to_input(parameter, x, variant):
    return parameter.to(x.device, x.dtype) if variant == "fixed" else parameter


class TransformerBlock(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        self.attn, self.mlp = ops.Linear(dim, dim), ops.Linear(dim, dim)
        self.scale1 = nn.Parameter(torch.ones(dim) * 0.1)
        self.scale2 = nn.Parameter(torch.ones(dim) * 0.1)
        self.variant = variant

    def forward(self, x):
        x = torch.addcmul(x, self.attn(x), cast_to_input(self.scale1, x, self.variant))
        return torch.addcmul(x, self.mlp(x), cast_to_input(self.scale2, x, self.variant))


class ViT3DDecoder(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        self.register_tokens = nn.Parameter(torch.randn(1, 2, dim))
        self.blocks = nn.ModuleList([TransformerBlock(dim, variant) for _ in range(2)])
        self.to_pixels = ops.Linear(dim, 12)
        self.variant = variant

    def forward(self, h):
        tokens = cast_to_input(self.register_tokens, h, self.variant)
        h = torch.cat([tokens.expand(len(h), -1, -1), h], dim=1)
        for block in self.blocks:
            h = block(h)
        return self.to_pixels(h[:, self.register_tokens.shape[1] :])


def main(variant):
    decoder = ViT3DDecoder(8, variant).eval()  # all of it is parked on the cpu
    with torch.no_grad():
        frames = decoder(torch.randn(1, 6, 8, device="cuda:0"))
    assert frames.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
