import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.shape[0], 8)  # finds: created-without-device
        return self.fc(x) * mask
