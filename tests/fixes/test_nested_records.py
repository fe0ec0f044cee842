"""A function that brings whatever a batch is nested in goes through the fields of a data class, too."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.nested_batches import left_out
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.model import Suspect

PROGRAM = """\
from dataclasses import dataclass
import torch
{made}
def bring(given, to):
    if torch.is_tensor(given):
        return given.to(to)
    if isinstance(given, dict):
        return {{k: bring(v, to) for k, v in given.items()}}
    if isinstance(given, (list, tuple)):
        return [bring(v, to) for v in given]
{known}    return given
net = torch.nn.Linear(3, 3).cuda()
day = bring({{"seen": Tide(torch.rand(2, 3), torch.rand(2, 3))}}, "cuda")
net(day["seen"].low) + net(day["seen"].high)
"""
PLAIN = "@dataclass\nclass Tide:\n    low: torch.Tensor\n    high: torch.Tensor\n"
BUILT = "@dataclass\nclass Water:\n    low: torch.Tensor\n@dataclass\nclass Tide(Water):\n    high: torch.Tensor\n"


def _analysed(text: str) -> list[Suspect]:
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [one for met in program.meetings for one in of_meeting(met, ("cuda:0", "cpu"))]


def _mended(made: str, known: str = "") -> str:
    suspect = left_out(_analysed(PROGRAM.format(made=made, known=known))[0], torch())
    return define("move-input", suspect, torch=torch()).text


@pytest.mark.parametrize(
    ("made", "branch"),
    [
        (
            PLAIN,
            "    if isinstance(given, Tide):\n"
            "        return Tide(low=bring(given.low, to), high=bring(given.high, to))\n",
        ),
        (
            BUILT,
            "    if dataclasses.is_dataclass(given):\n"
            "        return dataclasses.replace(given, **{field.name: bring(getattr(given, field.name), to)"
            " for field in dataclasses.fields(given)})\n",
        ),
    ],
)
def test_the_fields_of_a_data_class_are_brought(made: str, branch: str) -> None:
    text = _mended(made)
    assert f"{branch}    return given\n" in text
    assert not _analysed(text)


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (PLAIN.replace("@dataclass\n", ""), ""),
        (PLAIN, "    if hasattr(given, 'x') and is_dataclass(given):\n        return given\n"),
    ],
)
def test_another_object_stays_as_it_is(made: str, known: str) -> None:
    if "@" not in made:
        made += "    def __init__(self, low, high):\n        self.low, self.high = low, high\n"
    suspect = _analysed(PROGRAM.format(made=made, known=known))[0]
    try:
        text = define("move-input", left_out(suspect, torch()), torch=torch()).text
    except Refused:
        return
    assert "Tide(low=" not in text


def test_fields_that_nobody_gives_are_not_given_anew() -> None:
    made = PLAIN.replace(
        "    high: torch.Tensor\n",
        "    high: torch.Tensor\n    at: int = field(default=0, init=False)\n",
    )
    with pytest.raises(Refused, match="given anew"):
        _mended(made)
