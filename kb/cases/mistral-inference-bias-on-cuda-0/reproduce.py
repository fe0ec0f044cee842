"""A cache describes its sequences by a bias that is built on the default GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` hands the cache's device on and prints "fixed: ok". Attention is written
out in torch, which finds the two devices when xformers' own check of its arguments is not there.
"""

import sys

import torch
from torch import nn


class BlockDiagonalCausalBias:
    def __init__(self, dense):
        self.dense = dense

    @classmethod
    def from_seqlens(cls, seqlens, device=None):
        device = device or torch.device("cuda:0")
        starts = torch.tensor(seqlens, device=device).cumsum(0)
        position = torch.arange(sum(seqlens), device=device)
        owner = torch.bucketize(position, starts, right=True)
        visible = (owner[:, None] == owner) & (position[:, None] >= position)
        return cls(torch.where(visible, 0.0, float("-inf")))


class BufferCache:
    def __init__(self, variant, rows=32, width=8):
        self.variant = variant
        self.cache_k = torch.zeros(rows, width)
        self.cache_v = torch.zeros(rows, width)

    def to(self, device):
        self.cache_k, self.cache_v = self.cache_k.to(device), self.cache_v.to(device)
        return self

    @property
    def device(self):
        return self.cache_k.device

    def get_input_metadata(self, seqlens):
        device = self.device if self.variant == "fixed" else None
        return BlockDiagonalCausalBias.from_seqlens(seqlens, device=device)

    def update(self, k, v):
        self.cache_k[: len(k)], self.cache_v[: len(v)] = k, v


class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.wqkv = nn.Linear(width, 3 * width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x, cache, bias):
        q, k, v = self.wqkv(x).chunk(3, dim=-1)
        cache.update(k, v)
        scores = q @ k.T / k.shape[-1] ** 0.5
        return self.wo((scores + bias.dense).softmax(-1) @ v)


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    device, seqlens = torch.device("cuda:1"), [4, 2, 3]
    attention = Attention().to(device)
    cache = BufferCache(variant).to(device)
    x = torch.randn(sum(seqlens), 8, device=device)
    attention(x, cache, cache.get_input_metadata(seqlens))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
