import torch
from torch import nn


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.gen = torch.Generator()  # finds: generator-device

    def forward(self, x):
        keep = torch.empty(x.shape[0], 1, device=x.device).bernoulli_(1 - self.p, generator=self.gen)
        return x * keep


path = DropPath(0.5).to("cuda")
print(path(torch.ones(4, 2).to("cuda")))
