import torch
from torch import nn

first = 1
cards = sorted([0, 1], key=lambda card: card != first)
net = nn.Linear(6, 3).to(f"cuda:{first}")
net = nn.DataParallel(net, device_ids=cards)
print(net(torch.rand(4, 6).to(f"cuda:{first}")).sum().item())
