import torch
from torch import nn

torch.cuda.set_device(1)
device = torch.device("cuda:1")
net = nn.Linear(4, 4).to(device)
print(net(torch.rand(2, 4).cuda()))
