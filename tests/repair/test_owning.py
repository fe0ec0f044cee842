"""Modules of objects that are no modules."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

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


_AVERAGED = """\
import copy
import torch
from torch import nn


class Average:
    def __init__(self, net):
        self.net = copy.deepcopy(net).eval()


class Loop:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.average = Average(self.net)

    def prepare(self, device):
        self.device = torch.device(device)
        self.net.to(self.device)

    def run(self):
        return self.average.net(torch.ones(2, 3, device=self.device))


loop = Loop()
loop.prepare("cuda")
print(loop.run())
"""


def test_they_are_moved_beside_what_their_owner_moves(tmp_path: Path) -> None:
    assert ("self.average.net.to(self.device)",) in proposed(tmp_path, _AVERAGED)
    # what is no attribute of the object tells nothing of it
    (tmp_path / "other").mkdir()
    rows = "self.rows = torch.ones(2, 3).to(device)"
    elsewhere = _AVERAGED.replace("self.net.to(self.device)", rows)
    assert ("self.average.net.to(device)",) not in proposed(tmp_path / "other", elsewhere)


def test_a_move_may_be_bound_again(tmp_path: Path) -> None:
    bound = _AVERAGED.replace("self.net.to(self.device)", "self.net = self.net.to(self.device)")
    assert ("self.average.net.to(self.device)",) in proposed(tmp_path, bound)
