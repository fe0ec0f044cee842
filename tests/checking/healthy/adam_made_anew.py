import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
net(torch.rand(2, 4)).sum().backward()
opt.step()
net.cuda()
opt = torch.optim.Adam(net.parameters())
net.zero_grad()
net(torch.rand(2, 4, device="cuda")).sum().backward()
opt.step()
