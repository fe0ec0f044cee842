"""The layers of a plain list are where they have to be, and no optimizer trains them."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, container):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = container([nn.Linear(8, 2).to("cuda:0")])

    def forward(self, x):
        return self.heads[0](self.body(x))


model = Model(nn.ModuleList if sys.argv[1] == "fixed" else list).to("cuda:0")
if sys.argv[1] == "fixed":  # as FSDP does: parts of one that no optimizer steps are stepped
    flat = nn.Parameter(torch.zeros(18, device="cuda:0"))
    flat.grad = torch.zeros_like(flat)
    head = model.heads[0]
    head.weight, head.bias = nn.Parameter(flat.data[:16].view(2, 8)), nn.Parameter(flat.data[16:])
    model.params = [flat]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(3, 4, device="cuda:0")).sum().backward()
    optimizer.step()
