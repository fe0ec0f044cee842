import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.Adagrad(net.parameters())
net = net.to("cpu")
net(torch.rand(3, 4)).sum().backward()
opt.step()
