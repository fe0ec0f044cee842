"""The .to(device) stands outside the call: it moves the network's output, not its input.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the input and prints "fixed: ok".
A file of network architectures tries its own network when it is run as a script. The network is a
residual block between a stem and a head, small and random.
"""

import sys

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, features):
        return torch.relu(features + self.convolution(features))


class ResNet(nn.Module):
    def __init__(self, classes, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, kernel_size=7, stride=2, padding=3)
        self.stage = Residual(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        features = self.stage(self.stem(images))
        return self.head(features.mean(dim=(2, 3)))


def try_shapes(variant):
    """Random images go in, and one row of scores for each must come out."""
    device = torch.device("cuda:0")
    network = ResNet(classes=10).to(device)
    if variant == "failing":
        scores = network(torch.randn(2, 3, 32, 32)).to(device)
    else:
        scores = network(torch.randn(2, 3, 32, 32).to(device))
    assert scores.shape == (2, 10)
    print(f"{variant}: ok")


if __name__ == "__main__":
    try_shapes(sys.argv[1])
