"""Forms of Python and of torch that the analysis follows: where a tensor is after each of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from parsing.knowledge import torch

from diagnose import _toml
from diagnose.placement import Source
from diagnose.placement.analysis import analyse

FORMS = {
    form["name"]: form
    for form in _toml.loads(Path(__file__).with_name("forms.toml").read_text())["form"]
}
HEAD = """\
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

"""


@pytest.mark.parametrize("name", FORMS)
def test_a_form(name: str) -> None:
    text = f"{HEAD}{FORMS[name]['program']}torch.matmul(it, it)\n"
    last = text.count("\n")
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    met = [one.sides[0].tensor for one in program.meetings if one.spot.line == last]
    assert program.complete
    assert met, "`it` is no tensor"
    assert met[-1].device is not None
    assert met[-1].device.type.value == FORMS[name]["it"]
