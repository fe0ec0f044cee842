import torch
from torch import nn

device = torch.device("cuda:1")
net = nn.DataParallel(nn.Linear(4, 4).to("cuda:0"))  # finds: dataparallel-home-device
print(net(torch.rand(4, 4).to(device)))
