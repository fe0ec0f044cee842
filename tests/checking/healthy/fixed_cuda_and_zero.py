import torch
from torch import nn

net = nn.Linear(4, 4).to("cuda")
x = torch.rand(2, 4, device="cuda:0")
y = torch.rand(2, 4).cuda()
print(net(x) + y)
