import math

import torch
from separation.base import EncodeMaskDecode
from separation.tracing import scripted_if_traced
from torch import nn


class Separator(EncodeMaskDecode):
    pass


class PaddedEncoder(nn.Module):
    """An encoder for waves of any length."""

    def __init__(self, channels, kernel, depth):
        super().__init__()
        self.channels = channels
        self.kernel = kernel
        self.multiple = math.lcm(kernel // 2, 2**depth)
        self.filters = nn.Conv1d(1, channels, kernel, stride=kernel // 2)

    def forward(self, x):
        x = lengthened(x, self.multiple)
        return self.filters(x)


@scripted_if_traced
def lengthened(x, multiple: int):
    beyond = int(x.shape[-1]) % multiple
    if beyond:
        shape = x.shape
        silence = torch.zeros(
            list(shape[:-1]) + [multiple - beyond],
            dtype=x.dtype,
        )
        longer = torch.cat([x, silence], dim=-1)
        return longer
    return x
