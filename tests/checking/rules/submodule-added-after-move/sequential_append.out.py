import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).cuda()
net.append(nn.Linear(4, 2).to(next(net.parameters()).device))  # finds: submodule-added-after-move
print(net(torch.rand(1, 4).cuda()))
