import torch
from torch import nn


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.randn(4)
        self.lin = nn.Linear(4, 4)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.table = fn(self.table)
        return self

    def forward(self, x):
        return self.lin(x) + self.table


net = Table().cuda()
print(net(torch.ones(1, 4).cuda()))
