import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for i in range(2):
            block = nn.Linear(4, 4)
            self.add_module(f"block{i}", block)
            self.blocks.append(block)
        for i in range(2):
            setattr(self, "extra%d" % i, nn.Linear(4, 4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return getattr(self, "extra0")(x)


print(Tower().cuda()(torch.rand(2, 4).cuda()))
