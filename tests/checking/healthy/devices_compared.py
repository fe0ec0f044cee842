# What was seen before is compared only where both are on one device.
import torch
from torch import nn


class Repeated(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.seen = torch.empty(1)
        self.answer = None

    def forward(self, x):
        if x.device != self.seen.device or not torch.equal(x, self.seen):
            self.seen = x
            self.answer = self.inner(x)
        return self.answer


model = Repeated(nn.Linear(4, 4)).to("cuda")
x = torch.ones(2, 4, device="cuda")
print(model(x).sum().item(), model(x).sum().item())
