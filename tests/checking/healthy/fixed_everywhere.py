import torch
from torch import nn

net = nn.Linear(4, 4).to("cuda:1")
x = torch.rand(2, 4, device="cuda:1")
print(net(x))
