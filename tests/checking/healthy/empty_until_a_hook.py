# A tensor of no elements stands in for what a hook puts there.
from operator import attrgetter

import torch
from torch import nn


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.first(x))


class Wrapped(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.seen = torch.empty(0)
        attrgetter("last")(model).register_forward_hook(self.keep)

    def keep(self, module, given, output):
        self.seen = output

    def forward(self, x):
        self.model(x)
        return self.seen


class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = Wrapped(body)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.body(x))


print(Head(Body()).cuda()(torch.rand(2, 4).cuda()).shape)
