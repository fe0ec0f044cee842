"""A bias by distance between patches is computed once and kept where .to() does not look.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers the bias as a buffer and prints "fixed: ok".
"""

import math
import sys

import torch
from torch import nn


def get_2d_alibi(num_heads, num_patches):
    side = int(math.sqrt(num_patches))
    points = torch.cartesian_prod(torch.arange(side), torch.arange(side)).float()
    slopes = 2.0 ** -torch.arange(1, num_heads + 1)
    return (-torch.cdist(points, points) * slopes[:, None, None])[None]


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, relative_position_bias):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.mT * q.shape[-1] ** -0.5 + relative_position_bias
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class CROMA(nn.Module):
    def __init__(self, variant, dim=8, num_heads=2, num_patches=16):
        super().__init__()
        attn_bias = get_2d_alibi(num_heads, num_patches)
        if variant == "fixed":
            self.register_buffer("attn_bias", attn_bias)
        else:
            self.attn_bias = attn_bias
        self.patch = nn.Conv2d(2, dim, 4, stride=4)
        self.s1_encoder = Attention(dim, num_heads)

    def forward(self, x_sar):
        tokens = self.patch(x_sar).flatten(2).mT
        return self.s1_encoder(tokens, self.attn_bias)


def main(variant):
    model = CROMA(variant).to("cuda")
    model(torch.rand(1, 2, 16, 16, device="cuda")).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
