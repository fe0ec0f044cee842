import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
net.append(nn.Linear(4, 2))
net[0] = nn.Linear(4, 4)
net = net.to(device)
print(net(torch.rand(1, 4, device=device)))
