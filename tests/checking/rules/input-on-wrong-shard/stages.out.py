import torch
from torch import nn


class Pipeline(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8).to("cuda:0")
        self.head = nn.Linear(8, 2).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.stem(x.to("cuda:0")))
        return self.head(x.to(next(self.head.parameters()).device))  # finds: input-on-wrong-shard|cross-shard-op


Pipeline()(torch.rand(2, 4))
