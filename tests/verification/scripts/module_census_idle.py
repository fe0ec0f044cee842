"""The head that was left behind is not used yet, so nothing fails."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.body(x)


model = Model().to("cuda:0")
model.head = nn.Linear(8, 3)
if sys.argv[1] == "fixed":
    model.to("cuda:0")
model(torch.randn(2, 4, device="cuda:0"))
