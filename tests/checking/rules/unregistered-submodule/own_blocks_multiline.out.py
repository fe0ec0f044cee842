import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return x + self.fc(self.norm(x))


class Encoder(nn.Module):
    def __init__(self, dim=8, n=2):
        super().__init__()
        self.blocks = nn.ModuleList([  # finds: unregistered-submodule
            Block(dim)
            for _ in range(n)
        ])

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x


encoder = Encoder().to("cuda")
x = torch.rand(3, 8).to("cuda")
print(encoder(x))
