"""What is computed of each weight of a model that is spread over GPUs is on several of them."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.model import Suspect

HEAD = """\
import torch
from torch import nn
class Bridge(nn.Module):
    def __init__(self, second="cuda:1"):
        super().__init__()
        self.north = nn.Linear(4, 4).to("cuda:0")
        self.south = nn.Linear(4, 2).to(second)
    def forward(self, x):
        return self.south(self.north(x.to("cuda:0")).to(self.south.weight.device))
bridge, whole = Bridge(), Bridge("cuda:0")
bridge(torch.rand(2, 4)).sum().backward()
"""


def _found(rest: str) -> list[Suspect]:
    text = HEAD + rest
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    met = [one for meeting in program.meetings for one in of_meeting(meeting, split=program.split)]
    return [one for one in met if one.sure]


@pytest.mark.parametrize(
    "rest",
    [
        "torch.stack([p.grad.norm() for p in bridge.parameters()])  # here",
        "norms = [p.grad.norm() for p in bridge.parameters()]\ntorch.stack(norms)  # here",
        "torch.cat([p.view(-1) for _, p in bridge.named_parameters()])  # here",
        "sum(p.grad.norm() ** 2 for p in bridge.parameters())  # here",
        "max(p.grad.abs().max() for p in bridge.parameters())  # here",
        "total = 0.0\nfor p in bridge.parameters():\n    total += p.grad.norm()  # here",
        "rows = []\nfor p in bridge.parameters():\n    rows.append(p.flatten())\ntorch.cat(rows)  # here",
    ],
)
def test_what_is_made_one_of_all_weights(rest: str) -> None:
    [found, *_] = _found(rest)
    assert (found.cause, found.spot.code.endswith("# here")) == ("cross-shard-op", True)


def test_what_was_a_number_first_tells_no_device() -> None:
    loop = "for p in bridge.parameters():\n    total = total + p.grad.norm()\n"
    [number, *_] = _found(f"total = 0\n{loop}")
    [tensor, *_] = _found(f"total = torch.zeros(())\n{loop}")
    assert "total.device" in tensor.devices
    assert "total.device" not in number.devices


@pytest.mark.parametrize(
    "rest",
    [
        "torch.stack([p.grad.norm() for p in whole.parameters()])",
        "sum(p.grad.norm().item() for p in bridge.parameters())",
        "torch.stack([p.grad.norm().cpu() for p in bridge.parameters()])",
        "nn.utils.clip_grad_norm_(bridge.parameters(), 1.0)",
        "torch.autograd.grad(bridge(torch.rand(2, 4)).sum(), bridge.parameters())",
        "for p, q in zip(bridge.parameters(), Bridge().parameters()):\n    p.data.add_(q.data)",
        "noise = [torch.randn_like(p) for p in bridge.parameters()]\n"
        "for p, n in zip(bridge.parameters(), noise):\n    p.data.add_(n)",
        "kept = {k: p.clone() for k, p in bridge.named_parameters()}\n"
        "sum(((p - kept[k]) ** 2).sum().cpu() for k, p in bridge.named_parameters())",
        "kept = bridge.state_dict()\nfor k, p in bridge.named_parameters():\n    p.data.sub_(kept[k])",
        "kept = dict(bridge.named_parameters())\nfor k, p in kept.items():\n    p.data.sub_(kept[k])",
        "kept = {}\nfor p in bridge.parameters():\n    kept[p] = p.clone()\n"
        "for p in bridge.parameters():\n    p.data.sub_(kept[p])",
        "place = 'cuda:0' if len(list(bridge.parameters())) > 2 else 'cpu'\n"
        "torch.zeros(4, device=place) + bridge.north.bias",
        "for n, p in enumerate(bridge.parameters()):\n"
        "    if n == 3:\n        torch.zeros(4, device='cuda:0') + p",
    ],
)
def test_what_takes_each_weight_where_it_is(rest: str) -> None:
    assert not _found(rest)
