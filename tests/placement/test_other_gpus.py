"""What a check finds that fails only once an option names another GPU than the first."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, check

HEAD = """\
import argparse
import os
import torch
from torch import nn
parser = argparse.ArgumentParser()
"""
#: Name -> the options that it depends on, the cause, and a program; the line to edit ends in ``# here``.
FOUND = {
    "an operand of a module": (
        ("--gpu",),
        "hardcoded-device",
        """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
device = torch.device("cuda", args.gpu)
tides = nn.Linear(2, 2).to(device)
x = torch.rand(4, 2).cuda()  # here
print(tides(x))
""",
    ),
    "a number within a text, and an option with one dash": (
        ("-gpu_id",),
        "hardcoded-device",
        """\
parser.add_argument("-gpu_id", default="0")
args = parser.parse_args()
level = torch.rand(4, device="cuda:%s" % args.gpu_id)
print(level + torch.zeros(4, device="cuda:0"))  # here
""",
    ),
    "what a function makes where it is told no device": (
        ("--device",),
        "hardcoded-device",
        """\
parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
def moons(count, device="cuda:0"):
    return torch.ones(count, device=device)
level = torch.rand(4, device=args.device)
print(level + moons(4))  # here
""",
    ),
    "one of those that may be chosen": (
        ("--gpu",),
        "hardcoded-device",
        """\
parser.add_argument("--gpu", type=int, choices=[0, 1], default=0)
args = parser.parse_args()
level = torch.rand(4).cuda(args.gpu)
print(level + torch.zeros(4).cuda())  # here
""",
    ),
    "a variable of the environment": (
        ("GPU",),
        "hardcoded-device",
        """\
device = torch.device("cuda", int(os.environ.get("GPU", 0)))
level = torch.rand(4, device=device)
print(level + torch.zeros(4).cuda())  # here
""",
    ),
    "a gradient, which is where that is which it is of": (
        ("--gpu",),
        "hardcoded-device",
        """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
level = torch.rand(4, 3, device=torch.device("cuda", args.gpu), requires_grad=True)
(slope,) = torch.autograd.grad(args.height, level)
print(slope + torch.zeros(4, 3).cuda())  # here
""",
    ),
    "a wrapper that is told its GPUs in one text": (
        ("--gpu-ids",),
        "dataparallel-home-device",
        """\
parser.add_argument("--gpu-ids", default="0")
args = parser.parse_args()
ids = [int(one) for one in args.gpu_ids.split(",")]
tides = nn.Linear(2, 2).cuda()  # here
tides = nn.DataParallel(tides, device_ids=ids)
print(tides(torch.rand(4, 2)))
""",
    ),
    "the last GPU, whatever the options": (
        (),
        "dataparallel-home-device",
        """\
last = max(range(torch.cuda.device_count()))
tides = nn.DataParallel(nn.Linear(2, 2).cuda(last))  # here
print(tides(torch.rand(4, 2).cuda()))
""",
    ),
    "settings in the lines of a text, whatever the options": (
        (),
        "hardcoded-device",
        """\
conf = {}
for row in "depth = 3\\ngpu = 1".splitlines():
    key, value = row.split("=")
    conf[key.strip()] = int(value.strip())
level = torch.rand(4).cuda(conf["gpu"])
print(level + torch.zeros(4).cuda())  # here
""",
    ),
}
HEALTHY = {
    "the option is followed everywhere": """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
tides = nn.Linear(2, 2).cuda(args.gpu)
print(tides(torch.rand(4, 2).cuda(args.gpu)), "cuda:0" if args.gpu == 0 else "another")
""",
    "the option chooses the current device": """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
torch.cuda.set_device(args.gpu)
tides = nn.Linear(2, 2).cuda()
print(tides(torch.rand(4, 2, device=torch.device("cuda", args.gpu))))
""",
    "the option chooses it within a context": """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
with torch.cuda.device(args.gpu):
    tides = nn.Linear(2, 2).cuda()
    print(tides(torch.rand(4, 2, device=f"cuda:{args.gpu}")))
""",
    "the option chooses which GPUs there are": """\
parser.add_argument("--gpu", default="0")
args = parser.parse_args()
os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu
tides = nn.Linear(2, 2).cuda()
print(tides(torch.rand(4, 2, device="cuda:0")))
""",
    "the option is no number of a GPU": """\
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
level = torch.rand(4, device=f"cuda:{args.seed}")
print(level + torch.zeros(4).cuda())
""",
    "no other may be chosen": """\
parser.add_argument("--device", choices=["cpu", "cuda:0"], default="cuda:0")
args = parser.parse_args()
level = torch.rand(4, device=args.device)
print(level + torch.zeros(4).cuda())
""",
    "the wrapper's GPUs begin with the module's": """\
parser.add_argument("--gpu-ids", default="0")
args = parser.parse_args()
ids = [int(one) for one in args.gpu_ids.split(",")]
tides = nn.DataParallel(nn.Linear(2, 2).cuda(ids[0]), device_ids=ids)
print(tides(torch.rand(4, 2).cuda()))
""",
}
#: It depends on more than the option: a condition that asks for a device.
LIKELY = """\
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--use-gpu", type=bool, default=True)
args = parser.parse_args()
level = torch.rand(4, device=torch.device("cuda", args.gpu))
moons = torch.zeros(4)
if args.use_gpu:
    moons = moons.cuda()  # here
    print(level + moons)
"""


def found(program: str) -> list[tuple[tuple[str, ...], str, int, bool]]:
    text = HEAD + program
    said = check(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    return [(one.once, one.cause, one.spot.line, one.sure) for one in said.suspects]


def line(program: str) -> int:
    return (HEAD + program).split("# here")[0].count("\n") + 1


@pytest.mark.parametrize("name", FOUND)
def test_what_fails_once_an_option_names_another_gpu(name: str) -> None:
    options, cause, program = FOUND[name]
    assert found(program) == [(options, cause, line(program), True)]


@pytest.mark.parametrize("name", HEALTHY)
def test_what_follows_its_option(name: str) -> None:
    assert not found(HEALTHY[name])


def test_a_condition_that_asks_for_a_device_leaves_it_likely() -> None:
    assert found(LIKELY) == [(("--gpu",), "hardcoded-device", line(LIKELY), False)]


def test_what_fails_whatever_the_option_says_depends_on_none() -> None:
    program = """\
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
level = torch.rand(4, device=torch.device("cuda", args.gpu))
print(level + torch.zeros(4))  # here
print(level + torch.zeros(4, device="cuda:1"))
"""
    assert ((), "created-without-device", line(program), True) in found(program)
    assert not any(options for options, *_ in found(program))
