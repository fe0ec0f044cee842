import torch
import torch.nn as nn


class Uncertainty(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n))

    def forward(self, losses):
        return (torch.exp(-self.log_vars) * losses + self.log_vars).sum()


class Trainer:
    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(4, 2).to(device)
        self.combine = Uncertainty(2).to(device)  # finds: loss-or-metric-state

    def step(self):
        out = self.model(torch.rand(3, 4, device=self.device))
        return self.combine(out.pow(2).mean(0))


Trainer(torch.device("cuda")).step().backward()
