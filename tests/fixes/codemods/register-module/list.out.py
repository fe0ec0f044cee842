# spot: self.lateral = [nn.Conv2d(c, out, 1) for c in channels]
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(c, out, 1) for c in channels])
