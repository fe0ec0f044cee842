# spot: self.heads = {0: [nn.Linear(3, 3)]}
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {0: [nn.Linear(3, 3)]}
