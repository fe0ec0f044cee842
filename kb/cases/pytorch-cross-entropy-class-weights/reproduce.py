"""The class weights of a loss stay on the cpu, for the loss is no part of the model.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Linear(16, 5).to(device)
    loss_fn = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 4.0, 1.0]))
    if variant == "fixed":
        loss_fn.to(device)

    model_output = model(torch.randn(10, 16, device=device))
    labels = torch.randint(0, 5, (10,), device=device)
    loss = loss_fn(input=model_output, target=labels)
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
