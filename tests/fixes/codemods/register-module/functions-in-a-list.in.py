# cause: unregistered-submodule
# spot: self.steps = [partial(run, nn.Linear(k, 3)) for k in range(n)]
from functools import partial
from torch import nn


class Mixer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.steps = [partial(run, nn.Linear(k, 3)) for k in range(n)]
