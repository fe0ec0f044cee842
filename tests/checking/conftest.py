"""Small files to check."""

from __future__ import annotations

from pathlib import Path

import pytest

#: A tensor that is made in forward, without a device: line 11, column 16.
MASK = """\
import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.shape[0], 8)
        return self.proj(x) * mask
"""
#: A plain tensor attribute: line 8.
TABLE = """\
import torch
from torch import nn


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(8.0)
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        return self.proj(x) + self.table
"""
CLEAN = "import torch\n\nprint(torch.ones(3))\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two findings and a clean file, as the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mask.py").write_text(MASK)
    (tmp_path / "model" / "table.py").write_text(TABLE)
    (tmp_path / "train.py").write_text(CLEAN)
    return tmp_path
