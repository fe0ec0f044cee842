"""The wrapped module is not on DataParallel's first GPU."""

import torch
from torch import nn


def mistake(devices):
    """device_ids begins with the first GPU, the module is on the second."""
    model = nn.Linear(16, 4).to(devices[1])
    parallel = nn.DataParallel(model, device_ids=devices)
    return parallel(torch.randn(8, 16, device=devices[1]))


def fixed(devices):
    """The module is on device_ids[0], from where DataParallel copies it."""
    model = nn.Linear(16, 4).to(devices[0])
    parallel = nn.DataParallel(model, device_ids=devices)
    return parallel(torch.randn(8, 16, device=devices[0]))
