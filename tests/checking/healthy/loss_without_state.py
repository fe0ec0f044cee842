import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-1)
other = nn.MSELoss()
y = torch.tensor([0, 1, 1], device=device)
out = net(torch.rand(3, 4, device=device))
(criterion(out, y) + other(out, torch.zeros_like(out))).backward()
