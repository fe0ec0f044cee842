# cause: dataparallel-replica-state
# spot: torch.zeros(rows, 8, device=self.device)
# devices: self.device
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 2)
        self.device = torch.device("cuda:0")

    def forward(self, x):
        rows = len(x)
        state = torch.zeros(rows, 8, device=self.out.weight.device)
        return self.out(self.step(x, state))
