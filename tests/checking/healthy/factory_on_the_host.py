import torch
from torch import nn


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 6)

    def forward(self, x):
        order = torch.arange(x.shape[0])
        sizes = torch.tensor([2, 4])
        parts = x.split(sizes.tolist(), dim=1)
        total = sum(p.sum() for p in parts)
        for i in order.tolist():
            total = total + x[i].sum()
        return self.lin(x) + total


net = Routed().cuda()
x = torch.rand(4, 6).cuda()
print(net(x))
