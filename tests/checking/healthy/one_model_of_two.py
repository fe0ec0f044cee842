# One of two models is made; its layers are in a list and registered, too.
import argparse

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = [nn.Linear(4, 4) for _ in range(heads)]
        for i, head in enumerate(self.heads):
            self.add_module("head_{}".format(i), head)
        self.out = nn.Linear(4 * heads, 2)
        self.shift = nn.Parameter(torch.zeros(2))
        self.last = self.shifted

    def shifted(self, x):
        return x + self.shift

    def forward(self, x):
        return self.last(self.out(torch.cat([head(x) for head in self.heads], dim=1)))


class Single(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(x)


parser = argparse.ArgumentParser()
parser.add_argument("--single", action="store_true")
args = parser.parse_args([])
if not args.single:
    model = Heads(3)
else:
    model = Single(3)
model.cuda()
print(model(torch.rand(2, 4).cuda()).shape)
