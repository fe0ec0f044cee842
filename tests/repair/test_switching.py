"""The same program with one of its switches turned."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from repair.proofs import proof

from diagnose.repair.verification.switches import switches

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


ON = 'parser.add_argument("--on", default="one")\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ON + 'if args.on == "all":\n    pass\nelif args.on == "one":\n    pass\n', ["all"]),
        (ON + 'if args.on in ("one", "two", "all"):\n    pass\n', ["two", "all"]),
        (ON + 'MAPS = {"one": 1, "all": 2}\nmap = MAPS[args.on]\n', ["all"]),
        (ON + 'size = {"one": 1, "all": 2}[args.on]\n', ["all"]),
        (
            ON + 'match args.on:\n    case "one":\n        pass\n    case "all":\n        pass\n',
            ["all"],
        ),
        ('class C:\n    on: str = "one"\nx = C().on in ("one", "all")\n', ["all"]),
        (ON + 'if args.on == "all":\n    pass\n', []),  # what else it may be is not known
        (ON + 'if args.other in ("one", "all"):\n    pass\n', []),
        (ON + "print(args.on)\n", []),
    ],
)
def test_a_word_is_turned_to_those_that_it_is_compared_with(text: str, words: list[str]) -> None:
    assert [one.to for one in switches(ast.parse(text)) if one.name == "on"] == words


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ('parser.add_argument("--device", default="cuda")\n', ["cpu"]),
        ('parser.add_argument("--device", default="cuda:1")\n', ["cpu"]),
        ('class C:\n    train_device: str = "cuda"\n', ["cpu"]),
        ('parser.add_argument("--device", default="cuda")\nmodel.cuda()\n', []),
        ('parser.add_argument("--device", default="cuda")\nx = y.to("cuda")\n', []),
        ('parser.add_argument("--device", default="cpu")\n', []),
        ('parser.add_argument("--backend", default="cuda")\n', []),
        ('def build(device="cuda"):\n    pass\n', []),  # who calls it may name another one
    ],
)
def test_a_device_that_is_chosen_may_be_the_cpu(text: str, turned: list[str]) -> None:
    assert [one.to for one in switches(ast.parse(text))] == turned


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


def test_what_one_word_keeps_elsewhere_stays_there(tmp_path: Path) -> None:
    program = PROGRAM.replace('"--on-host", action="store_true"', '"--on", default="gpu"')
    kept = 'mean.to("cpu") if args.on == "host" else mean.to("cuda")'
    program = program.replace('mean.to("cpu") if args.on_host else mean', kept)
    program = program.replace("not args.on_host", 'args.on == "gpu"')
    program = program.replace(', device="cuda")', ")")
    made = ("torch.ones(4, 3)", 'torch.ones(4, 3, device="cuda")')
    level, guards = proof(tmp_path, program, made)
    assert guards["switch"] is True
    assert level == "proven"
    level, guards = proof(tmp_path, program, (kept, 'mean.to("cuda")'), made)
    assert guards["switch"] is False
    assert level == "same-numbers"


def test_a_gpu_that_is_written_down_does_not_follow_the_device(tmp_path: Path) -> None:
    program = PROGRAM.replace('"--on-host", action="store_true"', '"--device", default="cuda"')
    program = program.replace('"cuda"', "args.device").replace(
        "default=args.device", 'default="cuda"'
    )
    program = program.replace('mean.to("cpu") if args.on_host else mean', "mean")
    program = program.replace(" and not args.on_host", "")
    level, guards = proof(
        tmp_path, program, ("mean = nn.Linear(3, 2)", "mean = nn.Linear(3, 2).to(args.device)")
    )
    assert guards["switch"] is True
    assert level == "proven"
    _, guards = proof(
        tmp_path, program, ("mean = nn.Linear(3, 2)", "mean = nn.Linear(3, 2).cuda()")
    )
    assert guards["switch"] is False
