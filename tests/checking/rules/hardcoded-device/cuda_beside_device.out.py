import torch
from torch import nn

device = torch.device("cuda:1")
net = nn.Linear(4, 4).to(device)
x = torch.rand(2, 4).to(device)  # finds: hardcoded-device
print(net(x))
