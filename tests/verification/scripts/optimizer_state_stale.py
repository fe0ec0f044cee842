"""The optimizer holds the parameters of another model: it trains nothing, and nothing fails."""

import sys

import torch
from torch import nn

old = nn.Linear(4, 2)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD((model if sys.argv[1] == "fixed" else old).parameters(), lr=0.1)
model(torch.randn(3, 4, device="cuda")).sum().backward()
optimizer.step()
