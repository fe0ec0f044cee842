"""Generators on the wrong device, and loaders that nobody gave one."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

#: The loader makes a generator on the cpu by itself, and draws where tensors are made by default.
LOADER = """\
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")
rows = torch.arange(8.0)
loader = DataLoader(rows, batch_size=4, shuffle=True)
for batch in loader:
    print(batch.sum().item())
"""
#: The order is drawn on the cpu, whatever the generator.
ORDER = """\
import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")
order = torch.Generator(device)
loader = DataLoader(torch.arange(8.0), batch_size=4, shuffle=True, generator=order)
print(next(iter(loader)).sum().item())
"""
#: torch.manual_seed gives the generator of the cpu.
SEEDED = """\
import torch

device = torch.device("cuda")
noise_of = torch.manual_seed(3)
noise = torch.randn(4, generator=noise_of, device=device)
print(noise.sum().item())
"""


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (
            LOADER,
            "loader = DataLoader(rows, batch_size=4, shuffle=True, "
            "generator=torch.Generator(device=rows.device))",
        ),
        (ORDER, 'order = torch.Generator("cpu")'),
        (SEEDED, "noise_of = torch.Generator(device=device).manual_seed(3)"),
    ],
)
def test_the_generator_is_made_where_it_draws(tmp_path: Path, program: str, line: str) -> None:
    assert (line,) in proposed(tmp_path, program)


def test_nothing_but_a_call_gets_a_generator(tmp_path: Path) -> None:
    assert not any('in "' in row for rows in proposed(tmp_path, LOADER) for row in rows)
