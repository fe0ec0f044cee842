import torch
from torch import nn

# .to() of a module changes its parameters in place, and Adam makes its state at the first step.
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
net.cuda()
net(torch.rand(3, 4).cuda()).sum().backward()
opt.step()
