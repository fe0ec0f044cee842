import torch
from torch import nn


class Confusion(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("total", torch.zeros(n))

    def update(self, probs):
        self.total += probs.sum(0)


device = torch.device("cuda:0")
model = nn.Linear(4, 3).to(device)
metric = Confusion(3).to(device)  # finds: loss-or-metric-state
for _ in range(2):
    with torch.no_grad():
        metric.update(model(torch.rand(2, 4, device=device)).softmax(1))
print(metric.total)
