# devices: cpu,cuda:0
# causes: index-device
import torch
from torch import nn

class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)

    def forward(self, rows, pairs):
        return self.out(rows.index_select(0, pairs[0]) * rows.index_select(0, pairs[1]))  # fails

def draw(rows, count):
    drawn = torch.randint(0, rows, (2, count))  # here
    return drawn

device = torch.device("cuda")
pairs = Pairs().to(device)
rows = torch.rand(6, 4).to(device)

def loss():
    return pairs(rows, draw(6, 3)).mean()

loss().backward()
