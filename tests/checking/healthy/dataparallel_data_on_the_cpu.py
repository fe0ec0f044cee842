import torch
from torch import nn

net = torch.nn.DataParallel(nn.Linear(4, 2)).to("cuda")
y = torch.tensor([0, 1, 1, 0]).to("cuda")
print(nn.functional.cross_entropy(net(torch.rand(4, 4)), y))
