"""Adam's moments are restored beside a model on the cpu, and only the model goes to the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` loads the optimizer's state again after the move and prints "fixed: ok".
"""

import copy
import sys

import torch
from torch import nn


def checkpoint_of_an_earlier_run():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(8, 4)).sum().backward()
    optimizer.step()
    return copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})


def restore(state):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return model, optimizer


def set_devices(model, optimizer, device, variant):
    model.to(device)
    if variant == "fixed":
        # Each tensor of the state goes to where its parameter is now.
        optimizer.load_state_dict(optimizer.state_dict())


def train_model(model, optimizer, device):
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(8, 4, device=device)).pow(2).mean().backward()
        optimizer.step()


def setup_and_train(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model, optimizer = restore(checkpoint_of_an_earlier_run())
    set_devices(model, optimizer, device, variant)
    train_model(model, optimizer, device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    setup_and_train(sys.argv[1])
