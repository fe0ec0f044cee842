import torch
from torch import nn

with torch.device("meta"):
    net = nn.Linear(10_000, 10_000)
    out = net(torch.rand(2, 10_000))
print(sum(p.numel() for p in net.parameters()), out.shape)
