import torch
from mybases import Trained
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)

    def forward(self, x):
        return self.body(x)


class Whole(Trained, nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = {"feature": Inner()}  # finds: unregistered-submodule
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.parts["feature"](x))


print(Whole().to("cuda")(torch.rand(2, 3, device="cuda")))
