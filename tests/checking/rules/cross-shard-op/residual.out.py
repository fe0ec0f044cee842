import torch
from torch import nn


class Split(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.second = second
        self.a = nn.Linear(4, 4).to(first)
        self.b = nn.Linear(4, 4).to(second)

    def forward(self, x):
        h = self.a(x)
        out = self.b(h.to(self.second))
        return out + h.to(out.device)  # finds: cross-shard-op


model = Split(torch.device("cuda", 0), torch.device("cuda", 1))
model(torch.rand(2, 4).to("cuda:0")).sum().backward()
