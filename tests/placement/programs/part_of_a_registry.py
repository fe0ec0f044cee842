# devices: cpu,cuda:0
# causes: submodule-added-after-move
import torch
from torch import nn

HOOKS = {}


def hook(cls):
    HOOKS[cls.__name__] = cls
    return cls


@hook
class Count:
    def begin(self, engine):
        self.seen = 0


@hook
class Widen:
    def __init__(self, width):
        self.width = width

    def begin(self, engine):
        old = engine.net.head
        engine.net.head = nn.Sequential(nn.Linear(old.in_features, self.width), nn.Linear(self.width, 2))  # here


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))  # fails


class Engine:
    def __init__(self, net, hooks):
        self.net = net.to("cuda")
        self.hooks = [HOOKS[name](**given) for name, given in hooks]

    def call(self, what):
        for one in self.hooks:
            getattr(one, what)(self)

    def run(self):
        self.call("begin")
        return self.net(torch.rand(2, 4, device="cuda"))


Engine(Net(), [("Count", {}), ("Widen", {"width": 6})]).run()
