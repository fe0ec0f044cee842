import torch
from torch import nn

g = nn.Linear(2, 6).cuda(0)
d = nn.Linear(6, 1).cuda(1)
real = torch.rand(4, 6).to(next(d.parameters()).device)  # finds: input-on-wrong-shard
fake = g(torch.randn(4, 2).cuda(0))
loss = d(fake.cuda(1)).mean() - d(real).mean()
loss.backward()
