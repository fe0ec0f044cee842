import torch
from torch import nn


class Anchors(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchors = torch.rand(3, 2)
        self.conv = nn.Linear(2, 2)

    def forward(self, x):
        if self.anchors.device != x.device:
            self.anchors = self.anchors.to(x.device)
        return self.conv(x) + self.anchors.sum(0)


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.mask = None

    def forward(self, x):
        if self.mask is None:
            self.mask = torch.ones(x.shape[-1], device=x.device)
        return self.lin(x) * self.mask


net = nn.Sequential(Anchors(), Cache()).to("cuda")
print(net(torch.rand(5, 2).to("cuda")))
