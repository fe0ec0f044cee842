"""How an edit names a device where it has to."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

_SHARED = """\
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.device = torch.device("cuda:0")
        self.cell = nn.LSTM(3, 5, batch_first=True)

    def start(self, rows):
        first = torch.zeros(1, rows, 5, device=self.device)
        second = torch.zeros(1, rows, 5, device=self.device)
        return first, second

    def forward(self, x):
        return self.cell(x, self.start(x.size(0)))[0]


net = nn.DataParallel(Reader()).to("cuda:0")
net(torch.randn(4, 2, 3).to("cuda:0"))
"""


def test_a_copy_of_a_module_tells_its_gpu_by_a_weight_of_its_own(tmp_path: Path) -> None:
    """Both states are made there, for one alone changes nothing."""
    made = "torch.zeros(1, rows, 5, device=self.cell.weight_ih_l0.device)"
    assert (f"first = {made}", f"second = {made}") in proposed(tmp_path, _SHARED)
