# devices: cuda:0,cpu
# causes: unregistered-tensor
import torch
from torch import nn

class Spline(nn.Module):
    def __init__(self, k):
        super().__init__()
        self._make_grid(k)
        self.coef = nn.Parameter(torch.zeros(k))

    def _make_grid(self, k):
        self.grid = torch.linspace(-1, 1, k)  # here

    def forward(self, x):
        b = torch.exp(-(x[..., None] - self.grid) ** 2)  # fails
        return (b * self.coef).sum(-1)

class KAN(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.layers = nn.ModuleList([Spline(8) for _ in dims])
    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x

kan = KAN([1, 1])
kan.to("cuda:0")
kan(torch.rand(4, device="cuda:0"))
