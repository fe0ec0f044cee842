"""What a model is given in containers goes to its device, whatever else they hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

_PROGRAM = """\
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, pictures, targets):
        {inside}


device = torch.device("cuda")
net = Detector().to(device)
pictures = torch.ones(2, 4).to(device)
targets = {targets}
net(pictures, targets)
"""


@pytest.mark.parametrize(
    ("targets", "inside", "moved"),
    [
        (
            '[{"boxes": torch.ones(2, 4), "id": n} for n in range(2)]',
            'return sum((self.head(pictures) - one["boxes"]).sum() for one in targets)',
            '[{k: v.to(device) if hasattr(v, "to") else v for k, v in one.items()} for one in ',
        ),
        (
            '{"boxes": torch.ones(2, 4), "name": "a"}',
            'return (self.head(pictures) - targets["boxes"]).sum()',
            '{k: v.to(device) if hasattr(v, "to") else v for k, v in ',
        ),
        (
            "[torch.ones(2, 4), torch.ones(2, 4)]",
            "return sum((self.head(pictures) - one).sum() for one in targets)",
            "[v.to(device) for v in ",
        ),
    ],
)
def test_containers_are_moved(tmp_path: Path, targets: str, inside: str, moved: str) -> None:
    found = proposed(tmp_path, _PROGRAM.format(targets=targets, inside=inside))
    assert any(row.startswith(f"targets = {moved}") for rows in found for row in rows)
