import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4, 4))
net = net.to(device)
net.add_module("out", nn.Linear(4, 1).to(device))  # finds: submodule-added-after-move
x = torch.rand(2, 4).to(device)
print(net(x))
