import torch
from torch import nn

net = nn.Linear(3, 2)
if torch.cuda.is_available():
    net = nn.DataParallel(net).cuda()
x = torch.rand(2, 3)
if torch.cuda.is_available():
    x = x.cuda()
print(net(x))
