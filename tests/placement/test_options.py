"""What a check finds where options of a command line choose the devices."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, check

HEAD = """\
import argparse
import torch
from torch import nn
parser = argparse.ArgumentParser()
"""
#: Name -> a program and the cause of what is only likely there, for the program is not started so by default.
LIKELY = {
    "the cpu is the default": (
        "input-not-moved",
        """\
parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
args = parser.parse_args()
net = nn.Linear(2, 2).to(args.device)
x = torch.rand(4, 2)  # here
print(net(x))
""",
    ),
    "a flag that is set builds another model": (
        "module-not-moved",
        """\
parser.add_argument("--wide", action="store_true")
args = parser.parse_args()
net = nn.Linear(2, 2).cuda()
if args.wide:
    net = nn.Linear(2, 2)  # here
print(net(torch.rand(4, 2).cuda()))
""",
    ),
}
#: Name -> a program and the cause of what is found; the line to edit ends in ``# here``.
FOUND = {
    "a flag that is set by default builds another model": (
        "module-not-moved",
        """\
parser.add_argument("--wide", action="store_true", default=True)
args = parser.parse_args()
net = nn.Linear(2, 2).cuda()
if args.wide:
    net = nn.Linear(2, 2)  # here
print(net(torch.rand(4, 2).cuda()))
""",
    ),
    "a flag that is not set leaves a model": (
        "module-not-moved",
        """\
parser.add_argument("--fast", action="store_true")
args = parser.parse_args()
net = nn.Linear(2, 2)  # here
if args.fast:
    net = net.cuda()
print(net(torch.rand(4, 2).cuda()))
""",
    ),
    "a name that is the default chooses a loss": (
        "loss-or-metric-state",
        """\
parser.add_argument("--loss", choices=["plain", "weighted"], default="weighted")
args = parser.parse_args()
net = nn.Linear(2, 2).cuda()
if args.loss == "weighted":
    loss = nn.CrossEntropyLoss(weight=torch.ones(2))  # here
else:
    loss = nn.CrossEntropyLoss()
print(loss(net(torch.rand(4, 2).cuda()), torch.zeros(4, dtype=torch.long).cuda()))
""",
    ),
}
HEALTHY = {
    "a device for all": """\
parser.add_argument("--device", default="cpu")
args = parser.parse_args()
net = nn.Linear(2, 2).to(args.device)
print(net(torch.rand(4, 2, device=args.device)))
""",
    "a flag that asks for the GPU": """\
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
device = "cpu" if args.no_cuda else "cuda"
net = nn.Linear(2, 2).to(device)
print(net(torch.rand(4, 2).to(device)))
""",
    "two flags, one of which undoes the other": """\
parser.add_argument("--on-host", action="store_true")
args = parser.parse_args()
net = nn.Linear(2, 2)
x = torch.rand(4, 2)
if not args.on_host:
    net, x = net.cuda(), x.cuda()
print(net(x))
""",
}


def found(program: str, *, likely: bool = False) -> list[tuple[str, int]]:
    text = HEAD + program
    said = check(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [(one.cause, one.spot.line) for one in said.suspects if one.sure or likely]


@pytest.mark.parametrize("name", FOUND)
def test_what_an_option_chooses(name: str) -> None:
    cause, program = FOUND[name]
    here = (HEAD + program).split("# here")[0].count("\n") + 1
    assert (cause, here) in found(program)


@pytest.mark.parametrize("name", LIKELY)
def test_what_an_option_has_to_be_given_for_is_likely(name: str) -> None:
    cause, program = LIKELY[name]
    here = (HEAD + program).split("# here")[0].count("\n") + 1
    assert (cause, here) in found(program, likely=True)
    assert (cause, here) not in found(program)


@pytest.mark.parametrize("name", HEALTHY)
def test_what_options_leave_right(name: str) -> None:
    assert not found(HEALTHY[name])
