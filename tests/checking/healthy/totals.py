# A host tensor without dimensions is read beside any device, and a new one takes its name.
import torch
from torch import nn

net = nn.Linear(4, 1).cuda()
total = torch.tensor(0.0)
for _ in range(3):
    total = total + net(torch.ones(2, 4, device="cuda")).mean()
count = torch.tensor(0.0)
count += 2
print(total, count)
