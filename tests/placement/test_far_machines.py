"""What a check finds that fails only on the machines of a job but for the first."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, check

HEAD = """\
import argparse
import os
import torch
import torch.distributed as dist
from os import environ, getenv
from torch import nn
"""
#: The line to edit ends in ``# here``.
FOUND = {
    "the number among all processes, of a class that knows both": """\
class Place:
    def __init__(self, env):
        self.rank, self.local = int(env["RANK"]), int(env["LOCAL_RANK"])
    @property
    def device(self):
        return torch.device("cuda", self.rank)  # here
print(nn.Linear(2, 2).to(Place(os.environ).device))
""",
    "within a text, and by another launcher": """\
rank, local = int(getenv("SLURM_PROCID", "0")), int(getenv("SLURM_LOCALID", "0"))
print(local, nn.Linear(2, 2).to(f"cuda:{rank}"))  # here
""",
    "what chooses the current device": """\
def bind():
    if torch.cuda.is_available():
        torch.cuda.set_device(dist.get_rank())  # here
dist.init_process_group("nccl")
bind()
print("process", environ.get("LOCAL_RANK", 0))
""",
    "an option of the launcher": """\
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
args = parser.parse_args()
if "RANK" in os.environ:
    net = nn.Linear(2, 2).cuda(int(os.environ["RANK"]))  # here
""",
    "the number of the machine": """\
rank = int(os.environ.get("RANK", 0))
gpu, machine = divmod(rank, max(torch.cuda.device_count(), 1))
print(torch.zeros(2).to(torch.device("cuda", gpu)))  # here
""",
}
HEALTHY = {
    "the number on its machine": """\
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
print(rank, nn.Linear(2, 2).to(torch.device("cuda", local)))
""",
    "the rest of a division": """\
rank, local = int(os.environ["RANK"]), os.environ.get("LOCAL_RANK")
machine, gpu = divmod(rank, torch.cuda.device_count())
print(local, torch.zeros(2).cuda(rank % torch.cuda.device_count()), torch.zeros(2).cuda(gpu))
""",
    "one machine, as far as the file tells": """\
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
print(nn.Linear(2, 2).cuda())
""",
    "one machine, on which the program starts its processes": """\
def work(rank):
    os.environ["LOCAL_RANK"] = os.environ["RANK"] = str(rank)
    torch.cuda.set_device(int(os.environ["RANK"]))
torch.multiprocessing.spawn(work, nprocs=2)
""",
    "the program writes its number itself": """\
os.environ["RANK"] = os.environ["LOCAL_RANK"]
torch.cuda.set_device(int(os.environ["RANK"]))
""",
    "one machine only comes there": """\
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
gpu = rank if int(os.environ["WORLD_SIZE"]) <= torch.cuda.device_count() else local
print(torch.zeros(2).cuda(gpu))
""",
    "a number that the program writes down": """\
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
print(rank, local, torch.zeros(2, device="cuda:7"))
""",
}


def found(program: str) -> list[tuple[str, int, bool, bool]]:
    text = HEAD + program
    said = check(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [(one.cause, one.spot.line, one.far, one.sure) for one in said.suspects]


@pytest.mark.parametrize("name", FOUND)
def test_what_only_the_first_machine_has(name: str) -> None:
    line = (HEAD + FOUND[name]).split("# here")[0].count("\n") + 1
    assert found(FOUND[name]) == [("rank-device", line, True, True)]


@pytest.mark.parametrize("name", HEALTHY)
def test_what_each_machine_has(name: str) -> None:
    assert not found(HEALTHY[name])


def test_what_is_handed_its_numbers_by_nobody_is_likely() -> None:
    program = """\
def bind(chosen):
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    return local
"""
    assert found(program) == [("rank-device", HEAD.count("\n") + 3, True, False)]
