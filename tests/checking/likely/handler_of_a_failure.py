import torch
from torch import nn

net = nn.Linear(3, 3).to("cuda")
x = torch.rand(2, 3, device="cuda")
try:
    noise = torch.randn(2, 3).cuda()
    print(net(x) + noise)
except RuntimeError:
    noise = torch.randn(2, 3)  # finds: created-without-device
    print(net(x) + noise)
