"""A copy of what a dict holds goes where the buffer is that it takes the place of."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.fixes.definitions import define
from diagnose.placement import Source
from diagnose.placement.interpreter import analyse
from diagnose.placement.model import Suspect
from diagnose.placement.reasons.suspects import of_meeting

PROGRAM = """\
import torch
class Tally(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = {{"low": torch.zeros(3)}}
        self.register_buffer("low", torch.zeros(3))
    def again(self):
        {again}
    def forward(self, x):
        return x + {used}
tally = Tally().cuda()
tally.again()
tally(torch.rand(3).cuda())
"""


def _analysed(text: str) -> list[Suspect]:
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [one for met in program.meetings for one in of_meeting(met, ("cuda:0", "cpu"))]


@pytest.mark.parametrize(
    ("again", "mended"),
    [
        (
            'self.low = self.first["low"].clone()',
            'self.low = self.first["low"].clone().to(self.low.device)',
        ),
        (
            "for k, v in self.first.items(): setattr(self, k, v.clone())",
            "for k, v in self.first.items(): setattr(self, k, v.clone().to(getattr(self, k).device))",
        ),
    ],
)
def test_a_buffer_that_is_begun_anew(again: str, mended: str) -> None:
    found = _analysed(PROGRAM.format(again=again, used="self.low"))[0]
    assert (found.cause, found.name, found.spot.line) == ("unregistered-tensor", "self.low", 8)
    text = define("register-buffer", found, torch=torch()).text
    assert text == PROGRAM.format(again=mended, used="self.low")
    assert not _analysed(text)


def test_what_is_used_as_it_is_held_is_told_where_it_is_kept() -> None:
    found = _analysed(PROGRAM.format(again="pass", used='self.first["low"]'))[0]
    assert (found.cause, found.spot.line) == ("unregistered-tensor", 5)
