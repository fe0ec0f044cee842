import torch
from torch import nn

with torch.device("meta"):
    net = nn.Linear(4, 4)
net = net.to_empty(device="cuda")
nn.init.zeros_(net.weight)
nn.init.zeros_(net.bias)
print(net(torch.rand(1, 4, device="cuda")))
