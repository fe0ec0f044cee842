import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 4).to(device)
x = torch.rand(16, 4).to(device)
perm = torch.randperm(16)
for start in range(0, 16, 4):
    batch = x[perm[start:start + 4]]
    print(net(batch).mean().item())
