import torch
from torch import nn

class Wavelet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("h", torch.ones(n) / n)
    def forward(self, x):
        return x * self.h

class Decomposition(nn.Module):
    def __init__(self, n=4, device=[]):
        super().__init__()
        self.device = device
        self.dwt = Wavelet(n).cuda() if self.device.type == "cuda" else Wavelet(n)
        dummy = torch.ones(2, n).to(self.device)
        self.width = self.dwt(dummy).shape[-1]
    def forward(self, x):
        return self.dwt(x)
