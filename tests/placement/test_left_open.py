"""Forms of torch after which the analysis knows no device, for it is one thing here and another there."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.interpreter import analyse

OPEN = {
    "the type of a tensor, which told the device once": """
x = torch.zeros(2, 2).cuda()
it = torch.ones(2, 2).type(type(x.data))
""",
    "a structure of somebody's, which moves in place or does not": """
import mydata
for batch in torch.utils.data.DataLoader(mydata.Cases()):
    batch.to("cuda")
    it = batch.x
""",
}


@pytest.mark.parametrize("name", OPEN)
def test_where_it_is_stays_open(name: str) -> None:
    text = f"import torch\n{OPEN[name]}torch.matmul(it, it)\n"
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    met = [one.sides[0].tensor for one in program.meetings if one.spot.line == text.count("\n")]
    assert met
    assert met[-1].device is None
