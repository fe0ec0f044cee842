"""What a function of the program makes at each step is made where it is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import added, repaired

from diagnose.repair.patch import Patch
from diagnose.repair.refinement.callee_device import commissioning

STEP = """\
def slopes(n):
    return torch.arange(n) + torch.ones(n)


class Net(Module):
    def forward(self, x):
        return x * slopes(x.shape[1])
"""
BOUND = """\
def slopes():
    made = torch.tensor(
        [1.0, 2.0],
    )
    return made


for x in batches:
    scale = slopes()
    x = x * scale
"""


@pytest.mark.parametrize(
    ("before", "old", "new", "rows"),
    [
        (
            STEP,
            "slopes(x.shape[1])",
            "slopes(x.shape[1]).to(x.device)",
            [
                "def slopes(n, device=None):",
                "return torch.arange(n, device=device) + torch.ones(n, device=device)",
                "return x * slopes(x.shape[1], device=x.device)",
            ],
        ),
        (
            STEP.replace("(n):", "(n: int = 2) -> Tensor:"),
            "slopes(x.shape[1])",
            "slopes(x.shape[1])[None].to(x.device)",
            [
                "def slopes(n: int = 2, device=None) -> Tensor:",
                "return torch.arange(n, device=device) + torch.ones(n, device=device)",
                "return x * slopes(x.shape[1], device=x.device)[None]",
            ],
        ),
        (
            BOUND,
            "x * scale",
            "x * scale.to(x.device)",
            [
                "def slopes(device=None):",
                "device=device,",
                "scale = slopes(device=x.device)",
            ],
        ),
    ],
)
def test_the_function_is_told_the_device(before: str, old: str, new: str, rows: list[str]) -> None:
    (found,) = commissioning(Patch(before, before.replace(old, new)))
    gone = set(before.splitlines())
    assert [row.strip() for row in found.splitlines() if row not in gone] == rows


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (STEP.replace("forward", "__init__"), "slopes(x.shape[1])", "slopes(x.shape[1]).to(d)"),
        (STEP.replace("arange", "rand"), "slopes(x.shape[1])", "slopes(x.shape[1]).to(x.device)"),
        (STEP.replace("(n):", "(*n):"), "slopes(x.shape[1])", "slopes(x.shape[1]).to(x.device)"),
        (STEP.replace("(n):", "(n, device):"), "slopes(x.shape[1])", "slopes(x.shape[1]).to(d)"),
        (
            STEP.replace("arange(n)", "arange(n, device=device)"),
            "slopes(x.shape[1])",
            "slopes(x.shape[1]).to(x.device)",
        ),
        (STEP.replace("torch.", "np."), "slopes(x.shape[1])", "slopes(x.shape[1]).to(x.device)"),
        (STEP, "slopes(x.shape[1])", 'slopes(x.shape[1]).to("cpu")'),
        (STEP, "slopes(x.shape[1])", "slopes(x.shape[1], **more).to(x.device)"),
        (STEP, "slopes(x.shape[1])", "self.slopes(x.shape[1]).to(x.device)"),
        (BOUND.replace("    x = x", "    scale = y\n    x = x"), "x * scale", "x * scale.to(d)"),
        (BOUND.replace("for x in batches", "if x"), "x * scale", "x * scale.to(x.device)"),
    ],
)
def test_other_moves_stay(before: str, old: str, new: str) -> None:
    assert old in before
    assert not list(commissioning(Patch(before, before.replace(old, new))))


def test_a_table_that_each_layer_makes_anew_is_made_on_the_gpu(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


def distances(n):
    at = torch.arange(n)
    return (at[None] - at[:, None]).float()


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        return self.inner(x) + distances(len(x)) @ x


net = Mixing().to("cuda")
for _ in range(2):
    print(f"{net(torch.ones(2, 3).to('cuda')).mean().item():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == (
        "def distances(n, device=None):",
        "at = torch.arange(n, device=device)",
        "return self.inner(x) + distances(len(x), device=x.device) @ x",
    )
