import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, x):
        return self.fc(x.to(self.device))


net = Net().cuda()
print(net(torch.rand(2, 3)))
