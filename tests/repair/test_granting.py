"""Gradients that are set by hand go to their parameters."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

_PROGRAM = """\
import torch

weight = torch.ones(3, device="cuda", requires_grad=True)
master = weight.detach().cpu().requires_grad_()
(weight * 2).sum().backward()
master.grad = GIVEN
print(master.grad)
"""


@pytest.mark.parametrize(
    ("given", "edited"),
    [
        ("weight.grad.float()", "weight.grad.float().to(master.device)"),
        (
            "None if weight.grad is None else weight.grad",
            "None if weight.grad is None else weight.grad.to(master.device)",
        ),
    ],
)
def test_a_gradient_goes_to_its_parameter(tmp_path: Path, given: str, edited: str) -> None:
    found = proposed(tmp_path, _PROGRAM.replace("GIVEN", given))
    assert (f"master.grad = {edited}",) in found
