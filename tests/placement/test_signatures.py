"""Functions that nothing calls: what they themselves say of where their parameters may be."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, check

SAID = {
    "a factory beside is told the parameter's device": """\
def weighted(pred, target):
    weight = torch.ones(pred.shape[1:], device=pred.device)
    margin = torch.zeros(pred.shape[0])  # here
    return (weight * pred).sum(1) + margin
""",
    "another tensor follows its type": """\
def spread(points, centres):
    near = centres.type_as(points)
    step = torch.ones(3)  # here
    return near + points * step
""",
    "it is indexed with what a kept device was chosen for": """\
class Margin:
    def __init__(self, config):
        self._device = config.get("job.device")
        self._loss = torch.nn.MarginRankingLoss()
    def compute(self, scores, labels):
        first = labels.view(-1).nonzero().to(self._device).view(-1)
        positives = scores[first].view(-1)
        target = torch.ones(positives.size())  # here
        return self._loss(positives, positives, target)
""",
    "it meets what was moved to the device that the program asks for": """\
def pulled(anchor, other, settings):
    device = pick(settings)
    centre = torch.zeros(3).to(device)
    away = (anchor - centre).norm(dim=anchor.dim() - 1)
    scale = torch.linspace(0, 1, 3)  # here
    return away.unsqueeze(1) * (anchor * scale)
""",
}

OPEN = {
    "nothing says that it may be elsewhere": """\
def collate(rows):
    lengths = torch.tensor([one.size(0) for one in rows])
    return torch.stack(rows), lengths + torch.ones(len(rows))

def smoothed(pred, target):
    return pred.view(-1) + torch.ones(3)
""",
    "what is made follows it": """\
def weighted(pred, target):
    margin = torch.zeros(pred.shape[0], device=pred.device)
    return pred.sum(1) + margin
""",
    "an index of the host picks from what is elsewhere": """\
def picked(table, rows):
    first = torch.arange(3)
    return table[first] + torch.zeros(3, device=table.device)
""",
    "what is elsewhere is brought to the host first": """\
def shown(rows):
    if rows.is_cuda:
        rows = rows.cpu()
    return rows + torch.ones(3)
""",
}


def found(text: str) -> list[str]:
    text = "import torch\n" + text
    source = Source("/home/u/lib.py", text.split("\n"), ast.parse(text))
    return [one.line.code for one in check(source, torch()).suspects]


@pytest.mark.parametrize("name", SAID)
def test_what_a_function_says_of_a_parameter_holds_beside_it(name: str) -> None:
    lines = found(SAID[name])
    assert lines
    assert lines[0].endswith("# here")


@pytest.mark.parametrize("name", OPEN)
def test_where_it_says_nothing_nothing_is_found(name: str) -> None:
    assert not found(OPEN[name])
