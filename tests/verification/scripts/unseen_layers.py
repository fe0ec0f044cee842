"""The layers of a plain list are where they have to be, and no optimizer trains them."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, container):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = container([nn.Linear(8, 2).to("cuda:0")])

    def forward(self, x):
        return self.heads[0](self.body(x))


model = Model(nn.ModuleList if sys.argv[1] == "fixed" else list).to("cuda:0")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(3, 4, device="cuda:0")).sum().backward()
    optimizer.step()
