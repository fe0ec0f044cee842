"""What a statement writes into an array of NumPy's has to be on the host."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.model import Suspect

HEAD = """\
import numpy as np
import pandas as pd
import torch
net = torch.nn.Linear(4, 3).cuda()
tides = torch.rand(5, 4, device="cuda")
class Log:
    def __init__(self, n):
        self.kept = np.zeros((n, 3))
        self.fields = np.zeros(n, dtype=[("low", "f4"), ("high", "f4")])
log, heights, table = Log(5), np.zeros((5, 3)), pd.DataFrame({"port": range(5)})
rows = np.flatnonzero(heights[:, 0] == 0)
"""


def _found(statement: str, *devices: str) -> list[Suspect]:
    source = Source("/home/u/run.py", (HEAD + statement).split("\n"), ast.parse(HEAD + statement))
    program = analyse(source, torch())
    return [one for met in program.meetings for one in of_meeting(met, devices)]


@pytest.mark.parametrize(
    "statement",
    [
        "heights[rows] = net(tides)",
        "heights[:, 0] = net(tides)[:, 0]",
        "log.kept[rows] = net(tides)",
        "log.fields['low'][rows] = net(tides)[:, 0]",
        "heights += net(tides)",
        "log.kept[1:] += net(tides)[1:]",
        "table['low'] = net(tides)[:, 0]",
        "table.loc[rows, 'low'] = net(tides)[:, 0]",
        "for name, one in {'low': net(tides)}.items():\n    log.fields[name][rows] = one",
    ],
)
def test_what_an_array_is_given(statement: str) -> None:
    [found, *_] = _found(statement, "cuda:0", "cpu")
    assert found.cause == "host-copy-needed"
    assert found.spot.code == statement.rpartition("\n")[2].strip()
    assert isinstance(found.spot.node, ast.expr)


def test_one_item_may_be_a_number() -> None:
    assert [one.sure for one in _found("heights[2] = net(tides)[2]")] == [False]
    assert [one.sure for one in _found("heights[1:] = net(tides)[1:]")] == [True]


@pytest.mark.parametrize(
    "statement",
    [
        "heights[rows] = net(tides).cpu()",
        "heights[2, 0] = net(tides).sum()",
        "parts = [0, 0]\nparts[1] = net(tides)",
        "parts = {}\nparts['low'] = net(tides)",
        "tides[1:] = net.weight[0]",
        "parts = [tides]\nparts += [net(tides)]",
        "heights = net(tides)",
    ],
)
def test_what_no_array_is_given(statement: str) -> None:
    assert not _found(statement, "cuda:0", "cpu")
