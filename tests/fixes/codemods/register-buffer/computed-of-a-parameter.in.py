# cause: unregistered-tensor
# spot: self.gain = 0.1 * nn.Parameter(torch.ones(size) - offset, requires_grad=True)
# name: self.gain
from torch import nn


class Gate(nn.Module):
    def __init__(self, size, offset):
        super().__init__()
        self.gain = 0.1 * nn.Parameter(torch.ones(size) - offset, requires_grad=True)
