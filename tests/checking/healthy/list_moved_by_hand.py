import torch
from torch import nn


class Ensemble:
    def __init__(self, n, device):
        self.models = [nn.Linear(3, 1).to(device) for _ in range(n)]

    def __call__(self, x):
        return torch.stack([m(x) for m in self.models]).mean(0)


class Frozen(nn.Module):
    """A teacher in a list so that state_dict leaves it out."""

    def __init__(self, teacher):
        super().__init__()
        self.teacher = [teacher]
        self.student = nn.Linear(3, 1)

    def forward(self, x):
        return self.student(x) - self.teacher[0](x)


device = torch.device("cuda")
x = torch.rand(2, 3, device=device)
print(Ensemble(2, device)(x))
print(Frozen(nn.Linear(3, 1).to(device)).to(device)(x))
