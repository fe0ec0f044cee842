import torch
from torch import nn

device = torch.device("cuda")
scale = torch.ones(4, device="meta")
net = nn.Linear(4, 4).to(device)
x = torch.rand(2, 4, device=device)
print(net(x) * scale.to(device))  # finds: meta-tensor
