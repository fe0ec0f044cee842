# What a branch makes on the CPU that only runs there.
import torch
from torch import nn


class Windowed(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        if x.is_cuda:
            return self.head(x)
        return torch.cat([torch.zeros(1, 4), self.head(x)])


print(Windowed().cuda()(torch.rand(2, 4).cuda()).shape)
