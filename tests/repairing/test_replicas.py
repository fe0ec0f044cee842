"""What replicas of a model share, repaired."""

from __future__ import annotations

from pathlib import Path

from repairing.proposals import added, repaired


def test_the_methods_that_a_model_keeps_are_those_of_its_class(tmp_path: Path) -> None:
    """No value of the failing call tells of them: what the source alone shows is tried, too."""
    program = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.rest = nn.Linear(3, 3)
        self.ways = {"up": self._up, "down": self._down}

    def _up(self, x):
        return self.rest(x) * self.scale

    def _down(self, x):
        return x / self.scale

    def forward(self, x, way):
        return self.ways[way](x)


torch.manual_seed(0)
net = nn.DataParallel(Net().to("cuda:0"))
for way in ("up", "down"):
    loss = net(torch.rand(4, 3, device="cuda:0"), way).square().mean()
    loss.backward()
    print(f"{way} {loss.item():.4f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == (
        'self.ways = {"up": type(self)._up, "down": type(self)._down}',
        "return self.ways[way](self, x)",
    )
