# The type of a tensor tells where it is, and `type` brings another there.
import torch
from torch import nn


def padded(x):
    rest = torch.zeros(x.shape[0], 2).type(x.type())
    return torch.cat([x, rest], 1)


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(padded(x))


print(Padded().cuda()(torch.rand(3, 4).cuda()).shape)
