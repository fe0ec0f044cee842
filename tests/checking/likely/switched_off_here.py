import torch
from torch import nn

use_cuda = False


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.weigh = nn.Linear(3, 1)

    def forward(self, x):
        bias = torch.ones(x.size(0), 1)  # finds: created-without-device
        return self.weigh(x) + bias
