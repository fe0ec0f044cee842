"""A bug of one version of a library: its helper forgets the device, a later release does not."""

import torch
from torch.nn import functional as F


def smooth_labels_v1(labels, classes):
    """The library as released first."""
    return torch.full((len(labels), classes), 0.1).scatter_(1, labels[:, None], 0.9)


def smooth_labels_v2(labels, classes):
    """The same function after the fix."""
    soft = torch.full((len(labels), classes), 0.1, device=labels.device)
    return soft.scatter_(1, labels[:, None], 0.9)


def mistake(devices):
    """The caller's tensors are all on the GPU; the library makes one on the cpu."""
    logits = torch.randn(8, 3, device=devices[0])
    labels = torch.randint(3, (8,), device=devices[0])
    return F.cross_entropy(logits, smooth_labels_v1(labels, 3))


def fixed(devices):
    """Nothing but the library's version has changed."""
    logits = torch.randn(8, 3, device=devices[0])
    labels = torch.randint(3, (8,), device=devices[0])
    return F.cross_entropy(logits, smooth_labels_v2(labels, 3))
