import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, container):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = container([nn.Linear(8, 2)])
        self.scale = torch.ones(8)

    def forward(self, x):
        return self.heads[0](self.body(x))


model = Model(nn.ModuleList if sys.argv[1] == "fixed" else list).to("cuda:0")
model(torch.randn(2, 4, device="cuda:0"))
