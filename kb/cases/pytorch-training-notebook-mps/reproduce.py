"""A model is on the accelerator, and the inputs of the notebook are not.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the inputs and prints "fixed: ok". On an Apple GPU torch says
that placeholder storage has not been allocated, on CUDA it names both devices.
"""

import sys

import torch
from torch import nn


def main(variant):
    device = torch.accelerator.current_accelerator()
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
    loss_function = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    X = torch.randn(32, 2)
    y = X.sum(dim=1, keepdim=True)
    if variant == "fixed":
        X, y = X.to(device), y.to(device)
    for _ in range(3):
        loss = loss_function(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
