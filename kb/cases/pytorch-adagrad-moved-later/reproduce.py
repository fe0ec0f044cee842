"""Adagrad's running sums stay on the cpu, because the optimizer was made before the model was moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the optimizer after the move and prints "fixed: ok".
"""

import sys

import torch
from torch import nn, optim


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    linear = nn.Linear(2, 4)
    if variant == "fixed":
        linear.to(device)
    # Unlike Adam, Adagrad does not wait for the first step: here it makes a sum for each parameter.
    optimizer = optim.Adagrad(linear.parameters(), lr=0.1)
    if variant == "failing":
        linear.to(device)

    x = torch.randn(10, 2).to(device)
    optimizer.zero_grad()
    linear(x).mean().backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
