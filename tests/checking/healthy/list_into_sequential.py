import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(3):
            layers.append(nn.Linear(4, 4))
            layers += [nn.ReLU()]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


print(MLP().cuda()(torch.rand(2, 4).cuda()))
