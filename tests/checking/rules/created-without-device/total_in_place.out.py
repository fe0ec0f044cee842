import torch
from torch import nn

net = nn.Linear(4, 1).cuda()
total = torch.tensor(0.0, device=next(net.parameters()).device)  # finds: created-without-device
for _ in range(3):
    total += net(torch.ones(2, 4, device="cuda")).mean()
print(total)
