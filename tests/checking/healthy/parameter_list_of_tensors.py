# A list of parameters makes them of tensors.
import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        self.weights = nn.ModuleList()
        for _ in range(2):
            self.layers.append(nn.Linear(4, 4))
            made = [torch.empty(1, requires_grad=True) for _ in range(2)]
            self.weights.append(nn.ParameterList(made))

    def forward(self, x):
        for layer, weights in zip(self.layers, self.weights):
            x = layer(x * weights[0]) + weights[1]
        return x


print(Mixed().cuda()(torch.rand(2, 4).cuda()).shape)
