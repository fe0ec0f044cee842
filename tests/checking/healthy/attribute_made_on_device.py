import torch
from torch import nn


class Bias(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.lin = nn.Linear(4, 4, device=device)
        self.bias = torch.zeros(4, device=device)

    def forward(self, x):
        return self.lin(x) + self.bias


device = torch.device("cuda:0")
model = Bias(device)
print(model(torch.rand(2, 4, device=device)))
