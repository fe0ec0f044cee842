"""Programs that bring to a GPU what has a kernel only on the cpu."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed, repaired

_DECIDED = """\
from types import SimpleNamespace

import torch
from torch import nn


class Ranker:
    def __init__(self, options):
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        net = torch.ao.quantization.quantize_dynamic(net, {nn.Linear}, dtype=torch.qint8)
        self.device = torch.device(options.device)
        self.net = net.to(self.device)

    def score(self, rows):
        return self.net(torch.tensor(rows, device=self.device))


Ranker(SimpleNamespace(device="cuda")).score([[0.1, 0.2, 0.3, 0.4]])
"""
_MOVED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, ids):
        return self.head(self.names(ids))


net = torch.ao.quantization.quantize_dynamic(Net(), {nn.Linear}, dtype=torch.qint8)
net = net.to("cuda:1")
ids = torch.arange(5).to("cuda:1")
scores = net(ids)
"""


def test_what_the_program_calls_its_device_becomes_the_cpu(tmp_path: Path) -> None:
    found = proposed(tmp_path, _DECIDED)
    assert ('self.device = torch.device("cpu")',) in found
    assert ('Ranker(SimpleNamespace(device="cpu")).score([[0.1, 0.2, 0.3, 0.4]])',) in found


def test_a_model_that_is_moved_in_a_line_stays_and_its_input_comes_to_it(tmp_path: Path) -> None:
    """The line that moves it goes."""
    assert ('scores = net(ids.to("cpu"))',) in proposed(tmp_path, _MOVED)


@pytest.mark.parametrize(
    ("beside", "level"),
    [("", "proven"), ("other = nn.Linear(4, 1).to(ranker.device)\n", "same-numbers")],
)
def test_what_has_no_kernel_for_a_gpu_is_proven_on_the_cpu(
    tmp_path: Path, beside: str, level: str
) -> None:
    """All of it ends there, for it was quantized for that, but no other model."""
    tail = f"{beside}print(ranker.score([[0.1, 0.2, 0.3, 0.4]]).sum().item())"
    call = 'Ranker(SimpleNamespace(device="cuda"))'
    program = _DECIDED.replace(f"{call}.score([[0.1, 0.2, 0.3, 0.4]])", f"ranker = {call}\n{tail}")
    outcome, reached, diff = repaired(tmp_path, program)
    assert (outcome, reached) == ("repaired", level)
    assert '+        self.device = torch.device("cpu")' in diff


def test_another_failure_takes_nothing_to_the_cpu(tmp_path: Path) -> None:
    program = _MOVED.replace("net = torch.ao", "rest = torch.ao").replace(
        'net = net.to("cuda:1")', 'net = Net().to("cuda:0")'
    )
    assert not any('"cpu"' in row for rows in proposed(tmp_path, program) for row in rows)
