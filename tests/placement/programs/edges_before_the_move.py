# devices: cpu,cuda:0
# causes: input-not-moved
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pairs(n):
    near = torch.rand(n, n) < torch.full((n, n), 0.4)
    left, right = near.nonzero(as_tuple=True)
    return torch.stack([left, right])


class Mixer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.Embedding(n, 8)

    def forward(self, edges):
        return self.table(edges[0]) + self.table(edges[1])  # fails


found = pairs(12)
both = torch.cat([found, found.flip(0)], dim=1)  # here
net = Mixer(12).to(device)
for _ in range(2):
    net(both).sum().backward()
