# cause: unregistered-tensor
# spot: self.gain = nn.Parameter(torch.ones(size)) * nn.Parameter(torch.zeros(size))
# name: self.gain
from torch import nn


class Gate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size)) * nn.Parameter(torch.zeros(size))
