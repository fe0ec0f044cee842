"""Modules of objects that are no modules."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import added, proposed, repaired

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


def test_a_model_that_a_callback_keeps_is_moved_where_it_is_called(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

MADE = {"wide": lambda: nn.Linear(3, 2)}


class Distill:
    def __init__(self, name):
        self.teacher = MADE[name]()

    def on_loss(self, x, loss):
        hint = self.teacher(x).square().mean()
        return loss + hint


student, callback = nn.Linear(3, 2).to("cuda"), Distill("wide")
x = torch.ones(4, 3, device="cuda")
print(callback.on_loss(x, student(x).square().mean()).item())
"""
    there = ("self.teacher = self.teacher.to(x.device)",)
    assert there in proposed(tmp_path, program)
    module = program.replace("class Distill:", "class Distill(nn.Module):").replace(
        "        self.teacher =", "        super().__init__()\n        self.teacher ="
    )
    waiting = program.replace(
        "\nstudent,",
        '\nhooked = MADE["wide"]()\nhooked.register_forward_pre_hook(print)\nMADE["wide"] = lambda: hooked\nstudent,',
    )
    for folder, other in (
        ("waiting", waiting),
        ("module", module),
        ("moved", program.replace("nn.Linear(3, 2)}", 'nn.Linear(3, 2).to("cuda:1")}')),
    ):
        (tmp_path / folder).mkdir()
        assert there not in proposed(tmp_path / folder, other)


def test_a_metric_that_its_keeper_forgets_to_move_is_moved_beside_the_others(
    tmp_path: Path,
) -> None:
    program = """\
import torch
from torch import nn


class Board:
    def __init__(self):
        self.scale, self.shift = nn.Linear(3, 3), nn.Linear(3, 3)

    def to(self, device):
        self.scale = self.scale.to(device)
        return self

    def add(self, x):
        return self.shift(self.scale(x))


torch.manual_seed(0)
board = Board().to("cuda")
for _ in range(2):
    print(f"{board.add(torch.ones(2, 3, device='cuda')).sum().item():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ("self.shift = self.shift.to(device)",)


def test_what_may_be_missing_is_moved_behind_the_loop_that_moves_the_others(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Board:
    def __init__(self, extra):
        self.parts = {"scale": nn.Linear(3, 3)}
        self.shift = nn.Linear(3, 3) if extra else None

    def to(self, device):
        for part in self.parts.values():
            part.to(device)
        return self

    def add(self, x):
        x = self.parts["scale"](x)
        return self.shift(x) if self.shift is not None else x


torch.manual_seed(0)
board = Board(extra=True).to("cuda")
for _ in range(2):
    print(f"{board.add(torch.ones(2, 3, device='cuda')).sum().item():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == (
        "if self.shift is not None:",
        "self.shift = self.shift.to(device)",
    )
