# cause: unregistered-tensor
# spot: self.width, self.table = 3, torch.rand(3)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.width, self.table = 3, torch.rand(3)
