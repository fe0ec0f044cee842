import torch
from torch import nn

meta = {"device": "meta", "name": "run"}
net = nn.Linear(2, 2).cuda()
print(meta["device"], net(torch.rand(1, 2).cuda()))
