import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        if kind == "mse":
            self.loss = nn.MSELoss()
        else:
            self.loss = nn.CrossEntropyLoss()
        self.apply(self.start)
        self.register_buffer("table", torch.ones(4), persistent=False)  # finds: unregistered-tensor

    def start(self, module):
        pass

    def forward(self, x):
        return self.loss(self.layer(x) + self.table, x)


net = Net(sys.argv[1] if len(sys.argv) > 1 else "mse").cuda()
net(torch.ones(2, 4).cuda())
