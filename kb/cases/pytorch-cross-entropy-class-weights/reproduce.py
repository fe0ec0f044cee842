"""The class weights of a loss stay on the cpu, for the loss is no part of the model.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def make_loss(class_counts):
    """Rare classes count for more. It is made far from the line that calls it."""
    weights = class_counts.sum() / class_counts
    return nn.CrossEntropyLoss(weight=weights)


def training_step(model, criterion, pixels, classes):
    scores = model(pixels)
    loss = criterion(scores, classes)
    loss.backward()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    criterion = make_loss(torch.tensor([800.0, 150.0, 50.0]))
    if variant == "fixed":
        criterion.to(device)
    model = nn.Sequential(nn.Linear(9, 7), nn.ReLU(), nn.Linear(7, 3)).to(device)
    pixels, classes = torch.rand(4, 9).to(device), torch.tensor([0, 2, 1, 0]).to(device)
    training_step(model, criterion, pixels, classes)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
