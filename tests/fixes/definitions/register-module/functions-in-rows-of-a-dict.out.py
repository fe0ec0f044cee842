# cause: unregistered-submodule
# spot: self.steps = {"low": (partial(run, nn.Linear(3, 3)), 2), "high": (partial(run, nn.Linear(3, 3)), 4)}
from functools import partial
from torch import nn


class Mixer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.steps = {"low": (partial(run, nn.Linear(3, 3)), 2), "high": (partial(run, nn.Linear(3, 3)), 4)}
        self.steps_layers = nn.ModuleList(part for one, _ in self.steps.values() for part in one.args)
