import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, devices):
        super().__init__()
        self.devices = devices
        self.emb = nn.Embedding(10, 4).to(devices[0])
        self.body = nn.Linear(4, 4).to(devices[0])
        self.out = nn.Linear(4, 3).to(devices[1])

    def forward(self, ids):
        h = self.body(self.emb(ids.to(self.devices[0])))
        return self.out(h.to(next(self.out.parameters()).device))  # finds: input-on-wrong-shard|cross-shard-op


Tagger(["cuda:0", "cuda:1"])(torch.tensor([[1, 2]]))
