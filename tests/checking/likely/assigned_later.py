import torch
from torch import nn


class Remembering(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.head = nn.Linear(4, 2)
        self.seen = torch.zeros(1, 4)  # finds: unregistered-tensor
        module.register_forward_hook(self.remember)

    def remember(self, module, given, result):
        self.seen = result.detach()

    def forward(self, x):
        return self.head(x + self.seen)
