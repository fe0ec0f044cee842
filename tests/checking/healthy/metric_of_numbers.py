import torch
from torch import nn


class Average:
    def __init__(self):
        self.total = 0.0
        self.n = 0

    def update(self, value):
        self.total += value
        self.n += 1


device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
meter = Average()
for _ in range(3):
    loss = net(torch.rand(2, 4, device=device)).pow(2).mean()
    meter.update(loss.item())
print(meter.total / meter.n)
