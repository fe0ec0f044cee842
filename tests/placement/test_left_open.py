"""Forms of torch after which the analysis knows no device, for it is one thing here and another there."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse

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
    "what a wrapper gives whose module is elsewhere: it fails there": """
it = torch.nn.DataParallel(torch.nn.Linear(2, 2))(torch.ones(2, 2).cuda())
""",
    "a list that a branch fills with what is not known": """
import mydata
rows = []
for one in mydata.rows():
    if isinstance(one, torch.Tensor):
        rows.append(one)
    else:
        rows.append(torch.as_tensor(one, dtype=torch.float32))
it = torch.stack(rows)
""",
    "a parameter that is made anew of what is not known": """
import mydata
def pruned(mask):
    return torch.nn.Parameter(mydata.rows()[mask])
it = pruned(3)
""",
    "numbers computed of others, which may be of another type": """
x = torch.ones(2, 2, dtype=torch.long) / 2
it = x.cuda() if x.is_floating_point() else x
""",
}


@pytest.mark.parametrize("name", OPEN)
def test_where_it_is_stays_open(name: str) -> None:
    text = f"import torch\n{OPEN[name]}torch.matmul(it, it)\n"
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    line = text.count("\n")
    assert program.complete
    # What is not known to be a tensor meets nothing.
    met = [one.sides[0].tensor.device for one in program.meetings if one.spot.line == line]
    assert met[-1:] in ([], [None])
