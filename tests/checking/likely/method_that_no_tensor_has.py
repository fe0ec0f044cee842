import torch
from torch import nn

net = nn.Linear(4, 3).cuda()
out = net(torch.rand(2, 4, device="cuda"))
print(out.unload().numpy())  # finds: host-copy-needed
