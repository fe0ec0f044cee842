import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4)).cuda()
net.append(nn.Linear(4, 2))
net.cuda()
print(net(torch.rand(1, 4).cuda()))
