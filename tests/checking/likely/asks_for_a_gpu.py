import torch
from torch import nn


class Framed(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 16)

    def forward(self, x):
        x = self.mix(x)
        if not torch.backends.cuda.is_built():
            return torch.stft(x, 16, return_complex=True)
        edge = torch.zeros(x.size(0), 2)  # finds: created-without-device
        return torch.cat([edge, x], 1)
