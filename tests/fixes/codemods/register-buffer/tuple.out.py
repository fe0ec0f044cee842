# cause: dataparallel-replica-state
# spot: self.low, self.high = span.amin(0), (span * 2).amax(0)
import torch
from torch import nn


class Clip(nn.Module):
    def __init__(self, span):
        super().__init__()
        self.register_buffer("low", span.amin(0), persistent=False)
        self.register_buffer("high", (span * 2).amax(0), persistent=False)

    def forward(self, x):
        return x.clamp(self.low, self.high)
