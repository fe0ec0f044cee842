"""The code names a fixed device: a coordinate grid on cuda:0, whatever GPU the user chose."""

import torch
from torch import nn


def decode_on_first_gpu(offsets):
    grid = torch.arange(offsets.shape[-1], device="cuda:0")
    return grid + offsets.sigmoid()


def decode(offsets):
    grid = torch.arange(offsets.shape[-1], device=offsets.device)
    return grid + offsets.sigmoid()


def mistake(devices):
    """The detector runs on the second GPU, the grid is on the first."""
    detector = nn.Linear(16, 8).to(devices[1])
    return decode_on_first_gpu(detector(torch.randn(4, 16, device=devices[1])))


def fixed(devices):
    """The grid is made where the offsets are."""
    detector = nn.Linear(16, 8).to(devices[1])
    return decode(detector(torch.randn(4, 16, device=devices[1])))
