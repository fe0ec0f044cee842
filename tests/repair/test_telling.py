"""Calls that leave out the device, and what is made once on the device of that time."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

_SCORED = """\
import torch
from torch import nn


def score(rows, net, device=None):
    return sum(net(row if device is None else row.to(device)).sum().item() for row in rows)


net = nn.Linear(3, 1).cuda()
print(score(torch.ones(2, 3), net{given}))
"""


def test_a_call_is_told_where_the_model_is(tmp_path: Path) -> None:
    told = ("print(score(torch.ones(2, 3), net, device=next(net.parameters()).device))",)
    assert told in proposed(tmp_path, _SCORED.format(given=""))


def test_a_call_that_was_told_is_left(tmp_path: Path) -> None:
    found = proposed(tmp_path, _SCORED.format(given=', device="cpu"'))
    assert not any('device="cpu", device=' in row for rows in found for row in rows)


def test_what_keeps_a_table_that_it_was_told_no_device_for_is_told(tmp_path: Path) -> None:
    program = """\
import torch


class Held:
    pass


class Counts:
    def __init__(self, size, device=None):
        self.table = torch.zeros(size, dtype=torch.long, device=device)

    def of(self, keys):
        return self.table[keys]


place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
held, counts = Held(), Counts(9)
width = 3 if held else 4
print(counts.of(torch.arange(width, device=place)))
"""
    assert ("held, counts = Held(), Counts(9, device=place)",) in proposed(tmp_path, program)


def test_what_is_made_once_is_made_anew_elsewhere(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Angles(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = None

    def forward(self, rows):
        if self.known is None or self.known.shape[0] < rows.shape[0]:
            self.known = torch.arange(rows.shape[0], device=rows.device)
        return rows + self.known


angles = Angles()
angles(torch.ones(3))
print(angles(torch.ones(3, device="cuda")))
"""
    asked = "if self.known is None or self.known.shape[0] < rows.shape[0]"
    renewed = (f"{asked} or self.known.device != rows.device:",)
    assert renewed in proposed(tmp_path, program)
