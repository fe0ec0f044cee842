"""A plain tensor attribute stays behind when the model moves: normalisation constants."""

import torch
from torch import nn

MEAN = [0.485, 0.456, 0.406]


class NormalizeByAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.tensor(MEAN).view(3, 1, 1)

    def forward(self, images):
        return images - self.mean


class NormalizeByBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN).view(3, 1, 1), persistent=False)

    def forward(self, images):
        return images - self.mean


def mistake(devices):
    """.to() does not see self.mean."""
    normalize = NormalizeByAttribute().to(devices[0])
    return normalize(torch.rand(2, 3, 8, 8, device=devices[0]))


def fixed(devices):
    """A buffer moves with its module."""
    normalize = NormalizeByBuffer().to(devices[0])
    return normalize(torch.rand(2, 3, 8, 8, device=devices[0]))
