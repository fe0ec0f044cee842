import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        scale = torch.tensor(0.5)
        zero = torch.zeros(())
        return self.lin(x) * scale + zero


net = Scaled().cuda()
print(net(torch.ones(2, 3).cuda()))
