# spot: self.mean = ( torch.tensor(MEAN) .view(1, 3, 1, 1) )
import torch
from torch import nn


class Normalize(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", (
            torch.tensor(MEAN)  # of ImageNet
            .view(1, 3, 1, 1)
        ), persistent=False)
