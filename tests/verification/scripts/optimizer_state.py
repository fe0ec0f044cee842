import sys

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    model(torch.randn(3, 4, device="cuda")).sum().backward()
    optimizer.step()
    if sys.argv[1] == "failing":
        for state in optimizer.state.values():
            state["exp_avg"] = state["exp_avg"].cpu()
