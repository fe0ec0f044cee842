"""Where a process takes the number of its GPU from, and how many processes there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.guards import told_by
from repair.proposals import proposed

from diagnose.repair.patch import Patch
from diagnose.repair.validation.patch_edits import counted
from diagnose.repair.verification.reference import starts_as_many

_KEEPS = """\
import os
from dataclasses import dataclass

import torch

os.environ.update(RANK="3", LOCAL_RANK="1")


@dataclass
class Place:
    rank: int
    local_rank: int


class Job:
    def __init__(self, at):
        self.device = torch.device("cuda", at.rank)

    def run(self):
        return torch.ones(2).to(self.device)


Job(Place(3, 1)).run()
"""


def test_the_rank_that_is_kept_beside_another_chooses(tmp_path: Path) -> None:
    assert ('self.device = torch.device("cuda", at.local_rank)',) in proposed(tmp_path, _KEEPS)


def test_else_the_variable_of_the_launcher_does(tmp_path: Path) -> None:
    program = _KEEPS.replace("    local_rank: int\n", "").replace("(3, 1)", "(3)")
    variable = 'int(os.environ["LOCAL_RANK"])'
    assert (f'self.device = torch.device("cuda", {variable})',) in proposed(tmp_path, program)


def test_a_text_with_the_rank_is_written_anew(tmp_path: Path) -> None:
    program = """\
import os

import torch

os.environ.update(RANK="3", LOCAL_RANK="1")
rank = int(os.environ["RANK"])
print(torch.ones(2).to(f"cuda:{rank}"))
"""
    row = """print(torch.ones(2).to(f'cuda:{int(os.environ["LOCAL_RANK"])}'))"""
    assert (row,) in proposed(tmp_path, program)


@pytest.mark.parametrize(
    ("names", "edited"),
    [
        (
            "rank = local_rank",
            'rank, local_rank = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_LOCALID"])',
        ),
        ("local_rank", 'local_rank = int(os.environ["SLURM_LOCALID"])'),
    ],
)
def test_a_local_rank_is_read_from_its_own_variable(
    tmp_path: Path, names: str, edited: str
) -> None:
    program = f"""\
import os

import torch

os.environ.update(SLURM_PROCID="3", SLURM_LOCALID="1")
{names} = int(os.environ["SLURM_PROCID"])
torch.cuda.set_device(local_rank)
"""
    assert (edited,) in proposed(tmp_path, program)


SPAWNS = """\
import torch
import torch.multiprocessing as mp

WORKERS = 3


def job(rank):
    torch.cuda.set_device(rank)


if __name__ == "__main__":
    mp.start_processes(job, nprocs=WORKERS, start_method="fork")
"""


def test_as_many_processes_are_started_as_there_are_gpus(tmp_path: Path) -> None:
    assert ("WORKERS = torch.cuda.device_count()",) in proposed(tmp_path, SPAWNS)


def test_processes_that_a_program_starts_do_not_share_a_gpu() -> None:
    wrapped = SPAWNS.replace("set_device(rank)", "set_device(rank % torch.cuda.device_count())")
    assert [guard.id for guard in told_by(counted, SPAWNS, wrapped)] == ["counted"]


def test_only_the_number_of_processes_says_what_is_meant() -> None:
    after = SPAWNS.replace("WORKERS = 3", "WORKERS = torch.cuda.device_count()")
    assert starts_as_many({"train.py": Patch(SPAWNS, after)})
    more = after.replace("def job(rank)", "def job(rank, size)")
    assert not starts_as_many({"train.py": Patch(SPAWNS, more)})
