"""A wrapped network is moved to the GPU of the settings, which is not DataParallel's first.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` tells the wrapper which GPU is its own and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Base:
    def __init__(self, variant):
        self.device = torch.device("cuda:1")
        self.variant = variant
        self._init_model()

    def _init_model(self):
        encoder = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        device_ids = None if self.variant == "failing" else [self.device.index]
        self.encoder = nn.DataParallel(encoder, device_ids=device_ids)
        self.encoder = self.encoder.to(self.device)

    def train_a_step(self, imgs):
        return self.encoder(imgs.to(self.device))


def main(variant):
    torch.manual_seed(0)
    base = Base(variant)
    feature_maps = base.train_a_step(torch.randn(4, 3, 8, 8))
    assert feature_maps.device == base.device
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
