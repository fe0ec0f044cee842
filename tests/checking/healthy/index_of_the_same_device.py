import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
x = torch.rand(8, 4, device=device)
print(x[net(x).squeeze(1) > 0.5].shape)
