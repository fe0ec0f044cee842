"""The expressions for a device that a place can read."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting

PROGRAM = """\
import torch
CARD = torch.device("cuda:1")
{around}
    class Scale:
        UNIT = torch.device("cuda:1")
        def weigh(self, load):
            return load * torch.ones(3)
    Scale().weigh(torch.rand(3, device=CARD))
"""


@pytest.mark.parametrize("around", ["if True:", "def main():"])
def test_a_method_reads_the_names_around_its_class(around: str) -> None:
    text = PROGRAM.format(around=around) + "main()\n" * (around == "def main():")
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = [
        one
        for met in analyse(source, torch()).meetings
        for one in of_meeting(met, ("cuda:1", "cpu"))
    ]
    assert found[0].spot.line == 7
    assert "CARD" in found[0].devices
    assert "UNIT" not in found[0].devices
