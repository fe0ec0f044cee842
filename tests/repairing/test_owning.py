"""Modules of objects that are no modules."""

from __future__ import annotations

from pathlib import Path

from repairing.proposals import proposed

_CRITIC = """\
import torch
from torch import nn


class Critic:
    def __init__(self):
        self.net = nn.Linear(3, 1)

    def __call__(self, x):
        return self.net(x).mean()


class Loop:
    def __init__(self, device=None):
        self.device = device or "cuda"
        self.critic = Critic()

    def run(self):
        return self.critic(torch.ones(2, 3, device=self.device))


print(Loop().run())
"""


def test_they_are_moved_where_the_object_is_made(tmp_path: Path) -> None:
    found = proposed(tmp_path, _CRITIC)
    assert ("self.critic.net.to(self.device)",) in found
    told = ("self.critic.net.to(device)",)
    assert told not in found, "device is None, and the object has chosen another one"


def test_an_object_that_can_be_moved_moves_itself(tmp_path: Path) -> None:
    moving = "    def to(self, device):\n        self.net.to(device)\n\n    def __call__"
    found = proposed(tmp_path, _CRITIC.replace("    def __call__", moving))
    assert ("self.critic.net.to(self.device)",) not in found
