import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lower = nn.Linear(4, 4).to("cuda:0")
        self.upper = nn.Linear(4, 4).to("cuda:1")

    def forward(self, x):
        hidden = self.upper(self.lower(x).to("cuda:1"))
        return hidden + (x.to("cuda:1") if sys.argv[1] == "fixed" else x)


Model()(torch.randn(2, 4, device="cuda:0"))
