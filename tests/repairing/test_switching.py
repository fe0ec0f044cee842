"""The same program with one of its switches turned."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from repairing.proofs import proof

from diagnose.repairing.proving.switching import switches

READ = "if {name}:\n    pass\n"


@pytest.mark.parametrize(
    ("text", "name", "to"),
    [
        ('parser.add_argument("--use-ema", action="store_true")\n', "use_ema", "True"),
        ('parser.add_argument("--a", action="store_true", default=True)\n', "a", "False"),
        ('parser.add_argument("--slow", default=True, type=bool)\n', "slow", "False"),
        ('parser.add_argument("--on", choices=["one", "all"], default="one")\n', "on", "all"),
        ("class Config:\n    low_memory: bool = False\n", "low_memory", "True"),
        ("def build(width, sharded=True):\n    pass\n", "sharded", "False"),
        ("def build(width, *, sharded=True):\n    pass\n", "sharded", "False"),
    ],
)
def test_a_switch_is_what_may_be_either_and_is_asked_for(text: str, name: str, to: str) -> None:
    (found,) = switches(ast.parse(text + READ.format(name=f"args.{name}")))
    assert (found.name, found.to) == (name, to)
    assert not list(switches(ast.parse(text + READ.format(name="args.other"))))


PROGRAM = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--average", action="store_true")
parser.add_argument("--on-host", action="store_true")
args = parser.parse_args(["--average"])
torch.manual_seed(0)
net = nn.Linear(3, 2).to("cuda")
mean = None
if args.average:
    mean = nn.Linear(3, 2)
    mean = mean.to("cpu") if args.on_host else mean
x = torch.ones(4, 3, device="cuda")
print(net(x).sum().item())
if mean is not None and not args.on_host:
    print(mean(x).sum().item())
"""


def test_an_edit_holds_for_who_sets_the_switch_otherwise(tmp_path: Path) -> None:
    made = ("mean = nn.Linear(3, 2)", 'mean = nn.Linear(3, 2).to("cuda")')
    level, guards = proof(tmp_path, PROGRAM, made)
    assert guards["switch"] is True
    assert level == "proven"


def test_what_is_there_in_one_mode_only_is_not_moved_in_the_other(tmp_path: Path) -> None:
    late = ("x = torch.ones", 'vars()["mean"].to("cuda")\nx = torch.ones')
    level, guards = proof(tmp_path, PROGRAM, late)
    assert guards["switch"] is False
    assert level == "same-numbers"


def test_what_a_switch_keeps_on_the_host_stays_there(tmp_path: Path) -> None:
    program = PROGRAM.replace("if args.on_host else mean", 'if args.on_host else mean.to("cuda")')
    program = program.replace(', device="cuda")', ")")
    made = ("torch.ones(4, 3)", 'torch.ones(4, 3, device="cuda")')
    level, guards = proof(tmp_path, program, made)
    assert guards["switch"] is True
    away = ('mean.to("cpu") if args.on_host else mean.to("cuda")', 'mean.to("cuda")')
    level, guards = proof(tmp_path, program, away, made)
    assert guards["switch"] is False
    assert level == "same-numbers"


def test_who_chooses_the_host_is_not_given_a_gpu(tmp_path: Path) -> None:
    program = PROGRAM.replace(
        "if args.on_host else mean", 'if not args.on_host else mean.to("cuda")'
    )
    used = ("print(mean(x).sum().item())", 'print(mean.to("cuda")(x).sum().item())')
    level, guards = proof(tmp_path, program, used)
    assert guards["switch"] is False
    assert level == "same-numbers"


def test_a_mistake_of_another_mode_is_told_and_no_fault_of_the_edit(tmp_path: Path) -> None:
    other = PROGRAM + "if args.on_host:\n    print((torch.ones(3) + x[0]).sum().item())\n"
    made = ("mean = nn.Linear(3, 2)", 'mean = nn.Linear(3, 2).to("cuda")')
    level, guards = proof(tmp_path, other, made)
    assert guards["switch"] is None
    assert level == "proven"
