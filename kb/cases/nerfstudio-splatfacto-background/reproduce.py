"""A renderer's background colour is a plain tensor attribute and does not move with the model.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` hands the colour out on the model's device and prints "fixed: ok".
Rasterisation is reduced to weights of Gaussians per pixel.
"""

import sys

import torch
from torch import nn


class SplatfactoModel(nn.Module):
    def __init__(self, num_points, variant):
        super().__init__()
        self.variant = variant
        self.means = nn.Parameter(torch.rand(num_points, 2))
        self.colors = nn.Parameter(torch.rand(num_points, 3))
        self.background_color = torch.tensor([0.2, 0.2, 0.3])

    @property
    def device(self):
        return self.means.device

    def _get_background_color(self):
        if self.training:
            return torch.rand(3, device=self.device)
        if self.variant == "fixed":
            return self.background_color.to(self.device)
        return self.background_color

    def get_outputs(self, pixels):
        alpha = torch.exp(-(torch.cdist(pixels, self.means) ** 2) * 40)
        weights = alpha / (alpha.sum(1, keepdim=True) + 1)
        background = self._get_background_color()
        return weights @ self.colors + (1 - weights.sum(1, keepdim=True)) * background


def main(variant):
    torch.manual_seed(0)
    model = SplatfactoModel(32, variant).to("cuda")
    pixels = torch.rand(64, 2, device="cuda")
    model.get_outputs(pixels).sum().backward()
    model.eval()
    with torch.no_grad():
        image = model.get_outputs(pixels)
    assert image.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
