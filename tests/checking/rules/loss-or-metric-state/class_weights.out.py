import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0])).to(device)  # finds: loss-or-metric-state
x = torch.rand(3, 4).to(device)
y = torch.tensor([0, 1, 1]).to(device)
criterion(net(x), y).backward()
