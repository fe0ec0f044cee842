# A buffer that has no value at first is registered all the same.
import torch
from torch import nn


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)
        self.register_buffer("counts", None)

    def load(self, rows):
        self.counts = torch.zeros(len(rows))

    def forward(self, x):
        return self.head(x) / self.counts[:, None]


counted = Counted()
counted.load([1, 2])
print(counted.cuda()(torch.rand(2, 4).cuda()).shape)
