"""A layer was added after the model had been moved: a new classification head."""

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(16, 32)
        self.fc = nn.Linear(32, 1000)

    def forward(self, x):
        return self.fc(torch.relu(self.body(x)))


def mistake(devices):
    """The head is replaced after the move, so it stays on the cpu."""
    model = Backbone().to(devices[0])
    model.fc = nn.Linear(32, 10)
    return model(torch.randn(4, 16, device=devices[0]))


def fixed(devices):
    """The model is moved when it is complete."""
    model = Backbone()
    model.fc = nn.Linear(32, 10)
    model.to(devices[0])
    return model(torch.randn(4, 16, device=devices[0]))
