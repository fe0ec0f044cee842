import torch
from torch import nn

device = torch.device("cuda:0")
net = nn.GRU(4, 4).to(device)
h0 = torch.zeros(1, 2, 4)
h0 = h0.to(device)
x = torch.rand(3, 2, 4).to(device)
out, h = net(x, h0)
eps = torch.randn(3, 2, 4).to(out.device)
also = torch.ones(4).type_as(out)
print((out + eps * also).sum())
