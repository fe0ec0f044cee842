"""What one caller of a model hands over elsewhere than the others do."""

from __future__ import annotations

from pathlib import Path

from repair.proofs import proof

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)

    def forward(self, x):
        return self.body(x)


torch.manual_seed(0)
net = Net().cuda()


def train():
    x = torch.ones(4, 3).cuda()
    return net(x).sum().item()


def show(x):
    return net(x).sum().item()


print(train())
print(show(torch.ones(2, 3)))
"""
INSIDE = ("self.body(x)", "self.body(x.to(self.body.weight.device))")


def test_what_one_caller_forgets_is_moved_by_that_caller(tmp_path: Path) -> None:
    level, guards = proof(tmp_path, PROGRAM, INSIDE)
    assert guards["strayed"] is False
    assert level == "same-numbers"
    there = ("def show(x):\n    return net(x)", "def show(x):\n    return net(x.cuda())")
    level, guards = proof(tmp_path, PROGRAM, there)
    assert "strayed" not in guards
    assert level == "proven"


def test_a_model_moves_its_input_where_all_callers_hand_it_over_so(tmp_path: Path) -> None:
    alike = PROGRAM.replace("torch.ones(4, 3).cuda()", "torch.ones(4, 3)")
    level, guards = proof(tmp_path, alike, INSIDE)
    assert "strayed" not in guards
    assert level == "proven"
