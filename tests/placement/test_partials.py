"""Layers that a function is given beforehand are unregistered where a module keeps that function."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting

HEAD = """\
from functools import partial
import torch
from torch import nn
def mix(layer, x):
    return layer(x)
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
"""
TAIL = """\
    def forward(self, x):
        return {use}
Mixer().cuda()(torch.rand(2, 3).cuda())
"""


def _lines(init: str, use: str) -> list[tuple[str, str]]:
    text = HEAD + "".join(f"        {line}\n" for line in init.split("\n")) + TAIL.format(use=use)
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [(one.cause, one.spot.code) for met in program.meetings for one in of_meeting(met)]


@pytest.mark.parametrize(
    ("kept", "use"),
    [
        ("self.step = partial(mix, nn.Linear(3, 3))", "self.step(x)"),
        ("self.steps = [partial(mix, nn.Linear(3, 3)) for _ in range(2)]", "self.steps[0](x)"),
        ("self.steps = {'low': (1, partial(mix, nn.Linear(3, 3)))}", "self.steps['low'][1](x)"),
        ("self.step = partial(mix, layer=nn.Linear(3, 3))", "self.step(x=x)"),
    ],
)
def test_a_layer_within_a_function_that_is_kept(kept: str, use: str) -> None:
    assert _lines(kept, use)[0] == ("unregistered-submodule", kept)


@pytest.mark.parametrize(
    "kept",
    [
        "self.layer = nn.Linear(3, 3)\nself.step = partial(mix, self.layer)",
        "self.layers = nn.ModuleList([nn.Linear(3, 3)])\nself.step = partial(mix, self.layers[0])",
        "layer = nn.Linear(3, 3)\nself.step = partial(mix, layer)\nself.layer = layer",
        "self.step = partial(mix, nn.Linear(3, 3))\nself.layers = nn.ModuleList(self.step.args)",
        "self.steps = [(2, partial(mix, nn.Linear(3, 3)))]\nself.step = self.steps[0][1]\n"
        "self.layers = nn.ModuleList(part for _, one in self.steps for part in one.args)",
        "self.step = partial(mix, layer=nn.Linear(3, 3))\n"
        "self.layers = nn.ModuleList(self.step.keywords.values())",
    ],
)
def test_a_layer_that_is_registered_beside_it(kept: str) -> None:
    assert not _lines(kept, "self.step(x)")
