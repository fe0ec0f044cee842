import torch
from torch import nn

a = nn.DataParallel(nn.Linear(4, 4).cuda())
b = nn.DataParallel(nn.Linear(4, 4).to("cuda:1"), device_ids=[1, 0])
c = nn.DataParallel(nn.Linear(4, 4))
c.to("cuda:0")
x = torch.rand(4, 4)
print(a(x).sum(), b(x).sum(), c(x).sum())
