import torch
from torch import nn


class Stacks(nn.Module):
    def __init__(self):
        super().__init__()
        self.stacks = [nn.Linear(3, 3), nn.Linear(3, 3)]  # finds: unregistered-submodule
        self.weights = nn.ParameterList(w for one in self.stacks for w in one.parameters())

    def forward(self, x):
        for one in self.stacks:
            x = one(x)
        return x


print(Stacks().to("cuda")(torch.rand(2, 3, device="cuda")))
