"""What decides where something is made: bound, handed in or kept, and not where the line fails."""

from __future__ import annotations

from pathlib import Path

from repairing.proposals import proposed

_HANDED_IN = """\
import torch
from torch import nn


def positions(count, device):
    return torch.arange(count, device=device)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(1)
        self.table = nn.Embedding(8, 4)

    def forward(self, x):
        {where}
        return self.table(positions(8, device)) + x


reader = Reader().to("cuda")
reader(torch.ones(8, 4, device="cuda"))
"""


def test_the_device_that_a_caller_hands_in_is_another(tmp_path: Path) -> None:
    program = _HANDED_IN.format(where="device = self.kept.device")
    assert ("device = x.device",) in proposed(tmp_path, program)


def test_a_device_that_is_written_down_was_meant(tmp_path: Path) -> None:
    program = _HANDED_IN.format(where='device = torch.device("cpu")')
    assert ("device = x.device",) not in proposed(tmp_path, program)


def test_the_device_that_an_object_keeps_is_that_of_its_model(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Scorer:
    def __init__(self, options):
        self.net = nn.Linear(3, 1).to("cuda")
        self.where = options["where"]

    def score(self, rows):
        rows = rows.to(self.where)
        return self.net(rows)


Scorer({"where": "cpu"}).score(torch.ones(2, 3))
"""
    assert ("self.where = next(self.net.parameters()).device",) in proposed(tmp_path, program)
