"""Draws blade profiles from a diffusion model, repeatably."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, points=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(points + 1, 64), nn.SiLU(), nn.Linear(64, points))

    def forward(self, profile, time):
        return self.net(torch.cat([profile, time.expand(len(profile), 1)], dim=1))


def sample(denoiser, count, steps, generator, device):
    profile = torch.randn(count, 32, generator=generator, device=device)
    for step in reversed(range(steps)):
        time = torch.full((1, 1), step / steps, device=device)
        profile = profile - denoiser(profile, time) / steps
    return profile


if __name__ == "__main__":
    device = torch.device("cuda")
    seeded = torch.Generator().manual_seed(1234)
    with torch.no_grad():
        blades = sample(Denoiser().to(device), 3, 10, seeded, device)
    print(blades.std())
