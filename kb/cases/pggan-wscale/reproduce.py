"""A layer's scale, computed from its weight in __init__, stays behind when the network moves.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers the scale as a buffer and prints "fixed: ok".
As in progressive growing of GANs: the weights are normalised once, and the lost factor is
multiplied back in each forward. It has one value for each channel here; a tensor without a
dimension on the cpu would be accepted by torch of today.
"""

import sys

import torch
from torch import nn


class WScaleLayer(nn.Module):
    def __init__(self, incoming, variant):
        super().__init__()
        weight = incoming.weight.data
        scale = weight.square().mean(dim=(1, 2, 3)).sqrt().view(1, -1, 1, 1)
        weight.div_(scale.view(-1, 1, 1, 1))
        if variant == "failing":
            self.scale = scale
        else:
            self.register_buffer("scale", scale)

    def forward(self, x):
        x = self.scale * x
        return x


class Generator(nn.Module):
    def __init__(self, variant):
        super().__init__()
        conv = nn.Conv2d(3, 4, kernel_size=3, padding=1, bias=False)
        self.block = nn.Sequential(conv, WScaleLayer(conv, variant), nn.LeakyReLU(0.2))

    def forward(self, z):
        return self.block(z)


def main(variant):
    torch.manual_seed(0)
    generator = Generator(variant).cuda()
    generator(torch.randn(2, 3, 4, 4, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
