import torch
from torch import nn

names = torch.arange(10)
net = nn.Linear(3, 10).cuda()
out = net(torch.rand(2, 3).cuda())
top = out.topk(3, dim=1).indices
print(names[top.to("cpu")])  # finds: index-device
