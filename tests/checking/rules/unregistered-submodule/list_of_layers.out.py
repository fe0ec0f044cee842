import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Linear(width, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])  # finds: unregistered-submodule

    def forward(self, x):
        x = self.inp(x)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


device = torch.device("cuda")
mlp = MLP(8, 3).to(device)
print(mlp(torch.rand(2, 8, device=device)).shape)
