# devices: cuda:0,cpu
# causes: unregistered-submodule
import torch
from torch import nn

class MultiHead(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        self.heads = {}  # here
        for t, n in tasks.items():
            self.heads[t] = nn.Linear(8, n)
    def forward(self, x, task):
        return self.heads[task](self.trunk(x))  # fails

m = MultiHead({"a": 2, "b": 3}).cuda()
m(torch.rand(2, 4).cuda(), "a")
