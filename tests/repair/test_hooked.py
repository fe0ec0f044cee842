"""Weights that only the call of their module brings."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed, repaired

PROGRAM = """\
import torch
import torch.nn.functional as F
from accelerate import cpu_offload
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, ids):
        return self.head(self.table(ids))


ids = torch.tensor([1, 2], device="cuda")
x = torch.ones(2, 4, device="cuda")
net = Net()
cpu_offload(net, execution_device=torch.device("cuda"))
got = USE
print(got.sum().item())
"""


@pytest.mark.parametrize(
    ("use", "becomes"),
    [
        ("net.table.weight[ids]", "net.table(ids)"),
        ("F.embedding(ids, net.table.weight)", "net.table(ids)"),
        ("F.linear(x, net.head.weight, net.head.bias)", "net.head(x)"),
    ],
)
def test_a_module_is_called_where_its_weights_are_read(
    tmp_path: Path, use: str, becomes: str
) -> None:
    assert (f"got = {becomes}",) in proposed(tmp_path, PROGRAM.replace("USE", use))


@pytest.mark.parametrize(
    ("use", "hook"),
    [
        ("net.head.weight[ids]", 'cpu_offload(net, execution_device=torch.device("cuda"))'),
        ("F.linear(x, net.head.weight)", 'cpu_offload(net, execution_device=torch.device("cuda"))'),
        ("net.table.weight[ids]", 'net = net.to("meta")'),
    ],
)
def test_what_its_forward_does_not_compute_is_left(tmp_path: Path, use: str, hook: str) -> None:
    program = PROGRAM.replace("USE", use)
    program = program.replace('cpu_offload(net, execution_device=torch.device("cuda"))', hook)
    rows = {row for one in proposed(tmp_path, program) for row in one}
    assert not rows & {"got = net.table(ids)", "got = net.head(ids)", "got = net.head(x)"}


def test_what_an_offload_brings_for_a_call_is_no_copy_of_the_line(tmp_path: Path) -> None:
    """The patch is proven: the copies at each call are the offload's, and the reference has no meta device."""
    program = PROGRAM.replace(
        "got = USE", "got = torch.stack([net(ids)[0], net.table.weight[ids][0, :2]])"
    )
    program = program.replace("got = ", "for _ in range(3):\n    got = ")
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert "net.table(ids)" in diff
