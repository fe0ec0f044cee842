"""Edits of what chooses a GPU that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

RANKS = """\
import os

import torch
from torch import nn

rank = int(os.environ.get("NO_SUCH_RANK", 1))


def worker(first):
    device = DEVICE
    torch.cuda.set_device(device)
    print(nn.Linear(2, 2).to(device).weight.sum().item())


worker(1)
"""


@pytest.mark.parametrize(
    ("device", "edited"),
    [
        (
            'torch.device("cuda", first + rank)',
            'torch.device("cuda", (first + rank) % torch.cuda.device_count())',
        ),
        ('f"cuda:{2 * rank}"', 'f"cuda:{(2 * rank) % torch.cuda.device_count()}"'),
    ],
)
def test_a_number_that_is_computed_is_counted_in_a_circle(
    tmp_path: Path, device: str, edited: str
) -> None:
    assert (f"device = {edited}",) in proposed(tmp_path, RANKS.replace("DEVICE", device))


def test_a_number_that_is_there_stays(tmp_path: Path) -> None:
    program = RANKS.replace("DEVICE", 'torch.device("cuda", 5)').replace(
        "    print(", '    torch.zeros(2).to(torch.device("cuda", rank))\n    print('
    )
    found = proposed(tmp_path, program)
    assert ('device = torch.device("cuda", 0)',) in found
    assert not any("rank %" in row for rows in found for row in rows)


def test_a_default_that_names_an_absent_gpu_becomes_the_first(tmp_path: Path) -> None:
    program = """\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--where", default="cuda:6")
options = parser.parse_args([])
print(torch.ones(2).to(options.where).sum().item())
"""
    assert ('parser.add_argument("--where", default="cuda")',) in proposed(tmp_path, program)


def test_a_list_that_counts_too_far_becomes_all_that_are_there(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

CONFIG = {"cards": [0, 1, 2], "sizes": [0, 1], "order": [2, 1, 0]}
net = nn.DataParallel(nn.Linear(3, 2).cuda(), device_ids=CONFIG["cards"])
print(net(torch.ones(4, 3).cuda()).shape)
"""
    found = proposed(tmp_path, program)
    row = 'CONFIG = {"cards": list(range(torch.cuda.device_count())), "sizes": [0, 1], '
    assert (f'{row}"order": [2, 1, 0]}}',) in found


def test_the_rank_of_the_machine_that_is_kept_beside_takes_the_place_of_the_other(
    tmp_path: Path,
) -> None:
    """The function that chose the GPU has returned."""
    program = """\
import torch
from torch import nn


class Job:
    def __init__(self):
        self.rank, self.local_rank = 5, 1

    def card(self):
        return torch.device("cuda", self.rank)


device = Job().card()
print(nn.Linear(2, 2).to(device))
"""
    found = proposed(tmp_path, program)
    near = found.index(('return torch.device("cuda", self.local_rank)',))
    assert near < found.index(
        ('return torch.device("cuda", self.rank % torch.cuda.device_count())',)
    )


def test_a_number_is_counted_in_a_circle_where_it_was_chosen(tmp_path: Path) -> None:
    program = """\
import torch


class Run:
    def __init__(self, card):
        self.device = torch.device(f"cuda:{card}" if torch.cuda.is_available() else "cpu")


run = Run(6)
print(torch.ones(2).to(run.device))
"""
    chosen = 'f"cuda:{card % torch.cuda.device_count()}"'
    row = f'self.device = torch.device({chosen} if torch.cuda.is_available() else "cpu")'
    assert proposed(tmp_path, program) == [(row,)]
