# The rate of an optimizer is a number, and no weight.
import numpy as np
import torch
from torch import nn

net = nn.Linear(3, 2).to("cuda")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rates = []
for _ in range(3):
    rates.append(opt.param_groups[0]["lr"])
    opt.step()
print(np.mean(rates))
