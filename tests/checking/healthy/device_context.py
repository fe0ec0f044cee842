import torch
from torch import nn

device = torch.device("cuda")
with device:
    net = nn.Linear(3, 3)
    bias = torch.zeros(3)
    x = torch.rand(2, 3)
print(net(x) + bias)
