import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 1)  # finds: optimizer-state
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)
net.to(device)
net(torch.rand(3, 4, device=device)).sum().backward()
opt.step()
