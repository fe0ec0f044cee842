"""The model goes to cuda:1, and DataParallel without device_ids wants it on cuda:0.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` names cuda:1 as DataParallel's first GPU and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    print(f"Going to train on {device}")
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    print("Moving model onto all GPUs")
    device_ids = None if variant == "failing" else [1, 0]
    model = nn.DataParallel(model, device_ids=device_ids).to(device)

    x = torch.randn(4, 3, 8, 8).to(device)
    logits = model(x)
    assert logits.shape == (4, 4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
