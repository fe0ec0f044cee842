import torch
from torch import nn


class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4).to("cuda:0")
        self.second = nn.Linear(4, 2).to("cuda:1")

    def forward(self, x):
        x = self.first(x.to("cuda:0"))
        return self.second(x.to("cuda:1"))


net = Split()
y = torch.tensor([0, 1]).to("cuda:1")
print(nn.functional.cross_entropy(net(torch.rand(2, 4)), y))
