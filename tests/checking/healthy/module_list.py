import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.heads = nn.ModuleDict({"a": nn.Linear(width, 1)})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.heads["a"](x)


mlp = MLP(4, 2).cuda()
print(mlp(torch.rand(2, 4).cuda()))
