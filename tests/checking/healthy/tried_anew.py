# The model that is tried is a new one, on the CPU, wherever the one before was.
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x)

net = Net().to("cuda")
print(net(torch.rand(2, 4, device="cuda")).shape)
try:
    net = Net()
    row = torch.rand(1, 4)
except ValueError as error:
    print(error)
try:
    print(net(row).sum().item())
except ValueError as error:
    print(error)
