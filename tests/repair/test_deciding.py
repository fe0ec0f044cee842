"""What decides where something is made: bound, handed in or kept, and not where the line fails."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

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


def test_a_caller_says_what_it_left_to_the_default(tmp_path: Path) -> None:
    program = """\
import torch


def ramp(count, *, device=None):
    return torch.linspace(0, 1, count, device=device)


def faded(sound):
    return sound * ramp(len(sound))


faded(torch.ones(6, device="cuda"))
"""
    assert ("return sound * ramp(len(sound), device=sound.device)",) in proposed(tmp_path, program)


def test_a_function_that_has_returned_was_given_what_tells_the_device(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


def converted(layer, like):
    device = like.device if like is not None else None
    return {"weight": layer.weight.detach(), "bias": torch.zeros(4, device=device)}


layer = nn.Linear(3, 4, bias=False).to("cuda")
state = converted(layer, None)
print((state["weight"].sum(1) + state["bias"]).shape)
"""
    known = ("device = next(layer.parameters()).device",)
    assert known in proposed(tmp_path, program)
