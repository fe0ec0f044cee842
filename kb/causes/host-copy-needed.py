"""NumPy was given a GPU tensor: predictions on their way to a metric."""

import torch
from torch import nn


def mistake(devices):
    """NumPy cannot read GPU memory."""
    model = nn.Linear(16, 3).to(devices[0])
    logits = model(torch.randn(8, 16, device=devices[0]))
    return logits.argmax(dim=-1).numpy()


def fixed(devices):
    """The predictions are copied to the cpu first."""
    model = nn.Linear(16, 3).to(devices[0])
    logits = model(torch.randn(8, 16, device=devices[0]))
    return logits.argmax(dim=-1).cpu().numpy()
