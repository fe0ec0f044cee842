import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)
        self.offset = torch.ones(2, device="cuda:0")

    def forward(self, x):
        offset = self.offset.to(x.device) if sys.argv[1] == "fixed" else self.offset
        return self.body(x) + offset


nn.DataParallel(Model().to("cuda:0"), device_ids=[0, 1])(torch.randn(4, 4, device="cuda:0"))
