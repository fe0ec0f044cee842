"""A whole model was never moved to the GPU: in distillation, the frozen teacher."""

import torch
from torch import nn
from torch.nn import functional as F


def network():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def mistake(devices):
    """Only the student is moved; the teacher's first convolution gets a GPU image."""
    device = devices[0]
    student, teacher = network().to(device), network().eval()
    images = torch.randn(2, 3, 16, 16, device=device)
    with torch.no_grad():
        target = teacher(images)
    return F.mse_loss(student(images), target).item()


def fixed(devices):
    """Both networks are on the device of the images."""
    device = devices[0]
    student, teacher = network().to(device), network().eval().to(device)
    images = torch.randn(2, 3, 16, 16, device=device)
    with torch.no_grad():
        target = teacher(images)
    return F.mse_loss(student(images), target).item()
