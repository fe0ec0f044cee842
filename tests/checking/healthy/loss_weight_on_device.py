import torch
from torch import nn

device = torch.device("cuda")
weight = torch.tensor([1.0, 3.0], device=device)
criterion = nn.CrossEntropyLoss(weight)
other = nn.BCEWithLogitsLoss(pos_weight=torch.ones(2).cuda())
net = nn.Linear(4, 2).to(device)
out = net(torch.rand(3, 4, device=device))
(criterion(out, torch.tensor([0, 1, 1], device=device)) + other(out, torch.ones_like(out))).backward()
