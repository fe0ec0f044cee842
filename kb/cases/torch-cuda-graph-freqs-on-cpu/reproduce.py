"""Frequencies are computed on the cpu and moved, in a forward that becomes a CUDA graph.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the copy,
``python reproduce.py fixed`` computes them where the timesteps are and prints "fixed: ok".
"""

import math
import sys

import torch
from torch import nn


def timestep_embedding(timesteps, dim, variant):
    half = dim // 2
    device = timesteps.device if variant == "fixed" else None
    steps = torch.arange(half, dtype=torch.float32, device=device)
    freqs = torch.exp(-math.log(10000) * steps / half).to(device=timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_embed = nn.Linear(8, 8)

    def forward(self, x, timesteps, variant):
        return x + self.time_embed(timestep_embedding(timesteps, 8, variant))


def main(variant):
    model = UNet().to("cuda")
    x, timesteps = torch.randn(2, 8, device="cuda"), torch.ones(2, device="cuda")
    with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        model(x, timesteps, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
