"""A device that is wrong where the program tells it, and not only where it is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import added, repaired

from diagnose.repair.patch import Patch
from diagnose.repair.synthesis.device_roots import rooting

HOME = """\
home = torch.device("cuda:0")
net = Net().to(home)
x = batch.to(home)
"""
OWN = """\
class Net(Module):
    @property
    def device(self):
        return next(self.parameters()).device


net = Net()
y = net(x.to(net.device))
"""
KEPT = """\
class Runner:
    def __init__(self, ids):
        self.device = torch.device("cuda")
        self.net = Net().to(self.device)

    def step(self, x):
        return self.net(x.to(self.device))


class Other:
    def __init__(self):
        self.device = torch.device("cuda:1")
"""


@pytest.mark.parametrize(
    ("before", "old", "new", "row"),
    [
        (
            KEPT,
            "Net().to(self.device)",
            'Net().to(f"cuda:{ids[0]}")',
            '        self.device = torch.device(f"cuda:{ids[0]}")',
        ),
        (
            HOME,
            "Net().to(home)",
            'Net().to(f"cuda:{ids[0]}")',
            'home = torch.device(f"cuda:{ids[0]}")',
        ),
        (HOME, "batch.to(home)", "batch.to(first.device)", "home = first.device"),
        (
            OWN,
            "x.to(net.device)",
            "x.to(net.first.weight.device)",
            "        return self.first.weight.device",
        ),
    ],
)
def test_the_device_is_told_where_the_program_tells_it(
    before: str, old: str, new: str, row: str
) -> None:
    (found,) = rooting(Patch(before, before.replace(old, new)))
    assert row in found.splitlines()
    assert old in found


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (HOME.replace("x = batch.to(home)\n", ""), "Net().to(home)", "Net().to(gpu)"),  # asked once
        (HOME.replace('"cuda:0"', "arg"), "Net().to(home)", "Net().to(gpu)"),  # nothing written
        (HOME + "home = other\n", "Net().to(home)", "Net().to(gpu)"),  # bound twice
        (HOME, "batch.to(home)", "batch.cpu().to(home)"),  # the device is the same
        (OWN.replace("@property", "@cached"), "x.to(net.device)", "x.to(net.first.weight.device)"),
        (OWN, "x.to(net.device)", "x.to(other.device)"),  # of another object
        (KEPT.replace("x.to(self.device)", "x"), "Net().to(self.device)", "Net().to(gpu)"),
        (KEPT.replace("self.", "run."), "Net().to(run.device)", "Net().to(gpu)"),
    ],
)
def test_other_devices_stay_where_they_are_used(before: str, old: str, new: str) -> None:
    assert not list(rooting(Patch(before, before.replace(old, new))))


def test_who_asks_a_property_for_the_first_gpu_is_told_it(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(3, 2).to("cuda:1")
        self.first = nn.Linear(4, 3).to("cuda:0")

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, x):
        return self.last(self.first(x).to("cuda:1"))


net = Net()
print(f"{net(torch.ones(2, 4).to(net.device)).sum().item():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    (row,) = added(diff)
    assert row.startswith("return ") and "self.first" in row


def test_the_home_of_replicas_is_the_device_that_all_are_told(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Runner:
    def __init__(self):
        self.ids = [1, 0]
        self.device = torch.device("cuda")
        model = nn.Linear(3, 2).to(self.device)
        self.model = nn.DataParallel(model, device_ids=self.ids)
        self.loss = nn.MSELoss().to(self.device)

    def run(self):
        x, y = torch.ones(4, 3).to(self.device), torch.ones(4, 2).to(self.device)
        return self.loss(self.model(x), y).item()


torch.manual_seed(0)
print(f"{Runner().run():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ('self.device = torch.device(f"cuda:{self.ids[0]}")',)
