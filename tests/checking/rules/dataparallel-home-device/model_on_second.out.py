import torch
from torch import nn

device = "cuda:0"
net = nn.DataParallel(nn.Linear(4, 4).to(device))  # finds: dataparallel-home-device
print(net(torch.rand(4, 4).to(device)))
