import torch
from torch import nn


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(5, 5)
        self.table = torch.arange(5)

    def forward(self, x):
        return self.lin(x) + torch.ones(5) * self.table


toy = Toy()
opt = torch.optim.SGD(toy.parameters(), lr=0.1)
toy(torch.rand(2, 5)).sum().backward()
opt.step()
