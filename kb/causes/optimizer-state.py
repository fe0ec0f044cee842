"""The optimizer's state is on another device: a resume that moves the model last."""

import torch
from torch import nn


def checkpoint():
    """What an earlier run saved."""
    model = nn.Linear(16, 4)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(8, 16)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def resume(device, move_first):
    saved = checkpoint()
    model = nn.Linear(16, 4)
    if move_first:
        model.to(device)
    optimizer = torch.optim.Adam(model.parameters())
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])  # puts the moments where the parameters are
    model.to(device)
    model(torch.randn(8, 16, device=device)).sum().backward()
    optimizer.step()


def mistake(devices):
    """The moments are loaded while the parameters are on the cpu, and stay there."""
    resume(devices[0], move_first=False)


def fixed(devices):
    """The model is on its device when the optimizer's state is loaded."""
    resume(devices[0], move_first=True)
