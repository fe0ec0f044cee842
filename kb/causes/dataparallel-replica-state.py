"""A DataParallel replica uses a tensor of the first GPU: anchors kept as a plain attribute."""

import torch
from torch import nn


class BoxHead(nn.Module):
    def __init__(self, anchors, as_buffer):
        super().__init__()
        self.offsets = nn.Linear(16, 4)
        if as_buffer:
            self.register_buffer("anchors", anchors, persistent=False)
        else:
            self.anchors = anchors

    def forward(self, features):
        return self.anchors + self.offsets(features)


def mistake(devices):
    """Replica 1 shares the attribute with replica 0, on the first GPU."""
    head = BoxHead(torch.rand(4, device=devices[0]), as_buffer=False).to(devices[0])
    parallel = nn.DataParallel(head, device_ids=devices)
    return parallel(torch.randn(8, 16, device=devices[0]))


def fixed(devices):
    """A buffer is copied to every replica's GPU."""
    head = BoxHead(torch.rand(4, device=devices[0]), as_buffer=True).to(devices[0])
    parallel = nn.DataParallel(head, device_ids=devices)
    return parallel(torch.randn(8, 16, device=devices[0]))
