# cause: unregistered-submodule
# spot: self.step = partial(run, nn.Linear(3, 3), nn.LayerNorm(3))
from functools import partial
from torch import nn


class Mixer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.step = partial(run, nn.Linear(3, 3), nn.LayerNorm(3))
        self.step_layers = nn.ModuleList(self.step.args)
