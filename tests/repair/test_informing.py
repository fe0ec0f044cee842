"""Functions that send what they make to a GPU of their own choice, and who knows another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed, repaired

PROGRAM = """\
import torch
from torch import nn


class Memory:
    def __init__(self):
        self.rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]

    def sample(self, start{parameter}):
        return [{made} for row in self.rows[start:]]


def learn(net, batch):
    return net(torch.stack(batch)).sum()


def main():
    card = torch.device("cuda:1")
    torch.manual_seed(0)
    net, memory = nn.Linear(2, 2).to(card), Memory()
    print(learn(net, memory.sample(1)).item())


main()
"""


@pytest.mark.parametrize(
    ("made", "becomes"),
    [
        ("torch.tensor(row).cuda()", "torch.tensor(row).to(device)"),
        ('torch.tensor(row).to("cuda:0")', "torch.tensor(row).to(device)"),
        ('torch.tensor(row, device="cuda")', "torch.tensor(row, device=device)"),
    ],
)
def test_the_function_is_told_by_its_caller(tmp_path: Path, made: str, becomes: str) -> None:
    edit = (
        "def sample(self, start, device):",
        f"return [{becomes} for row in self.rows[start:]]",
        "print(learn(net, memory.sample(1, device=card)).item())",
    )
    assert edit in proposed(tmp_path, PROGRAM.format(made=made, parameter=""))


def test_other_callers_get_what_the_function_chose(tmp_path: Path) -> None:
    made = "torch.tensor(row).cuda()"
    program = PROGRAM.format(made=made, parameter="") + "\n\ndef other():\n    Memory().sample(0)\n"
    rows = [row for edit in proposed(tmp_path, program) for row in edit]
    assert 'def sample(self, start, device="cuda"):' in rows


def test_a_function_of_no_parameters_gets_its_first(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

def rows():
    return torch.ones(3, 2).cuda()

card = torch.device("cuda:1")
print(nn.Linear(2, 2).to(card)(rows()).sum().item())
"""
    edits = [rows for rows in proposed(tmp_path, program) if "def rows(device):" in rows]
    assert edits
    assert "return torch.ones(3, 2).to(device)" in edits[0]


def test_a_function_that_knows_a_device_gets_no_other(tmp_path: Path) -> None:
    program = PROGRAM.format(made="torch.tensor(row).cuda()", parameter=", device=None")
    found = proposed(tmp_path, program)
    assert not any(row.startswith("def sample") for rows in found for row in rows)


def test_one_of_several_functions_of_a_name_gets_no_parameter(tmp_path: Path) -> None:
    other = "class Other:\n    def sample(self, start):\n        return []\n\n\ndef main"
    program = PROGRAM.format(made="torch.tensor(row).cuda()", parameter="").replace(
        "def main", other
    )
    found = proposed(tmp_path, program)
    assert not any(row.startswith("def sample") for rows in found for row in rows)


def test_it_is_proven(tmp_path: Path) -> None:
    made = "torch.tensor(row).cuda()"
    outcome, level, diff = repaired(tmp_path, PROGRAM.format(made=made, parameter=""))
    assert (outcome, level) == ("repaired", "proven")
    assert "+        return [torch.tensor(row).to(device) for row in" in diff


DRAWN = """\
import argparse
from types import SimpleNamespace
import torch


def seeded(seed):
    torch.manual_seed(seed)
    rng = torch.Generator()
    return rng.manual_seed(seed)


def setup(cpu):
    run = SimpleNamespace()
    run.card = torch.device("cpu" if cpu else "cuda")
    run.rng = seeded(3)
    return run


def pick(run):
    return torch.multinomial(torch.ones(8, device=run.card), 3, generator=run.rng)


given = argparse.ArgumentParser()
given.add_argument("--cpu", action="store_true")
print(pick(setup(given.parse_args().cpu)).numel())
"""


def test_who_makes_a_generator_is_told_where_it_draws(tmp_path: Path) -> None:
    outcome, level, diff = repaired(tmp_path, DRAWN)
    assert (outcome, level) == ("repaired", "proven")
    for row in (
        "+def seeded(seed, device):",
        "Generator(device=device)",
        "seeded(3, device=run.card)",
    ):
        assert row in diff


def test_of_a_generator_that_several_ask_for_nobody_is_told(tmp_path: Path) -> None:
    program = DRAWN.replace("print(", "seeded(4)\nprint(")
    rows = [row for edit in proposed(tmp_path, program) for row in edit]
    assert not any("def seeded" in row for row in rows)
