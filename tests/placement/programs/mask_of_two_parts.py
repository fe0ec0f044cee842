# devices: cuda:0,cuda:1
# causes: cross-shard-op
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)

    def forward(self, ids):
        return self.words(ids)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 4)

    def forward(self, read, seen):
        return self.out(read).masked_fill(~seen.unsqueeze(-1), 0.0)  # fails  # here


class Pair(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.reader = Reader().to(first)
        self.writer = Writer().to(second)

    def forward(self, ids):
        ids = ids.to(self.first)
        read = self.reader(ids)
        seen = ids != 0
        return self.writer(read.to(self.second), seen)  # fails


def devices():
    return torch.device("cuda:0"), torch.device("cuda:1")


Pair(*devices())(torch.randint(0, 20, (2, 5)))
