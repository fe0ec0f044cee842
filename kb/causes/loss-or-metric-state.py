"""The loss holds tensors on another device: class weights of a cross entropy."""

import torch
from torch import nn


def mistake(devices):
    """The criterion is no part of the model, so its weights were not moved."""
    model = nn.Linear(16, 3).to(devices[0])
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 5.0]))
    features = torch.randn(8, 16, device=devices[0])
    labels = torch.randint(3, (8,), device=devices[0])
    return criterion(model(features), labels)


def fixed(devices):
    """The criterion is moved like the model."""
    model = nn.Linear(16, 3).to(devices[0])
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 5.0])).to(devices[0])
    features = torch.randn(8, 16, device=devices[0])
    labels = torch.randint(3, (8,), device=devices[0])
    return criterion(model(features), labels)
