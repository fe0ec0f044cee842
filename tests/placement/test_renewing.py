"""What an object that was moved makes anew is told where that happens, and not where the object is built."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.model import Suspect

PROGRAM = """\
import torch
device = torch.device("cuda")
class {kind}:
    def __init__(self, n):
        self.n = n
        self.clear()
    def clear(self):
        self.rows = torch.zeros(self.n, 2)
    def to(self, device):
        self.rows = self.rows.to(device)
        return self
    def add(self, row):
        self.rows.add_(row)
def season(kept, device):
{body}kept = {made}
season(kept, device)
"""
CLEARED = "    kept.clear()\n    kept.add(torch.rand(4, 2, device=device))\n"
FRESH = "    kept.add(torch.rand(4, 2, device=device))\n"


def _first(kind: str, made: str, body: str) -> Suspect:
    text = PROGRAM.format(kind=kind, made=f"{kind}(4){made}", body=body)
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return next(one for met in program.meetings for one in of_meeting(met, ("cuda:0", "cpu")))


@pytest.mark.parametrize(
    ("kind", "made", "body", "cause", "code"),
    [
        (
            "Gauge",
            ".to(device)",
            CLEARED,
            "created-without-device",
            "self.rows = torch.zeros(self.n, 2)",
        ),
    ],
)
def test_what_is_made_anew(kind: str, made: str, body: str, cause: str, code: str) -> None:
    found = _first(kind, made, body)
    assert (found.cause, found.spot.code) == (cause, code)


def test_a_program_that_moves_it_again_is_right() -> None:
    text = PROGRAM.format(
        kind="RainMetric",
        made="RainMetric(4).to(device)",
        body=CLEARED.replace("clear()\n", "clear()\n    kept.to(device)\n"),
    )
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    assert not [one for met in program.meetings for one in of_meeting(met, ("cuda:0", "cpu"))]
