import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4).to(f"cuda:{i}") for i in range(2)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # finds: input-on-wrong-shard|cross-shard-op
        return x


Deep()(torch.rand(2, 4).to("cuda:0"))
