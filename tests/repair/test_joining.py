"""Lists whose parts are on several GPUs, where a call joins them; models that a call is given with their input."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

_TWO = """\
import torch


class Pair:
    def __init__(self):
        self.places = {{"low": torch.device("cuda:0"), "high": torch.device("cuda:1")}}

    def total(self, x):
        a, b = x.to(self.places["low"]).sum(), x.to(self.places["high"]).mean()
        {given}
        return {joined}.sum()


print(Pair().total(torch.ones(3)))
"""


@pytest.mark.parametrize(
    ("given", "joined", "edited"),
    [
        (
            "terms = [a, b]",
            "torch.stack(terms)",
            'torch.stack([v.to(self.places["low"]) for v in terms])',
        ),
        (
            'terms = {"a": a, "b": b}',
            "torch.stack(list(terms.values()))",
            'torch.stack([v.to(self.places["low"]) for v in terms.values()])',
        ),
        (
            "pass",
            "torch.stack([a, b])",
            'torch.stack([a.to(self.places["low"]), b.to(self.places["low"])])',
        ),
    ],
)
def test_all_parts_come_to_what_the_program_calls_a_device(
    tmp_path: Path, given: str, joined: str, edited: str
) -> None:
    program = _TWO.format(given=given, joined=joined)
    assert (f"return {edited}.sum()",) in proposed(tmp_path, program)


def test_a_list_on_one_gpu_and_the_host_is_left_to_others(tmp_path: Path) -> None:
    program = _TWO.format(given="terms = [a, b]", joined="torch.stack(terms)")
    program = program.replace('device("cuda:1")', 'device("cpu")')
    assert not any("for v in terms" in row for rows in proposed(tmp_path, program) for row in rows)


def test_what_is_given_with_a_model_goes_where_that_is(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


def summary(net, given):
    return net(given).shape


class Job:
    def __init__(self):
        self.device = torch.device("cuda")
        self.net = nn.Linear(3, 2).to(self.device)

    def export(self):
        sample = torch.zeros(1, 3)
        return torch.export.export(self.net.requires_grad_(False), (sample,))

    def trace(self):
        sample = torch.ones(1, 3)
        return torch.jit.trace(self.net, (sample,), check_trace=False)


Job().trace()
"""
    found = proposed(tmp_path, program)
    assert ("sample = torch.ones(1, 3).to(self.device)",) in found


def test_the_moves_of_a_line_that_go_to_one_device_change_together(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

net = nn.Bilinear(3, 3, 2).to("cuda:1")
x, y = torch.ones(4, 3), torch.ones(4, 3)
x, y = x.to("cuda:0"), y.to("cuda:0")
print(net(x, y))
"""
    found = proposed(tmp_path, program)
    device = "next(net.parameters()).device"
    both = (f"x, y = x.to({device}), y.to({device})",)
    one = (f'x, y = x.to({device}), y.to("cuda:0")',)
    assert both in found
    assert one not in found or found.index(both) < found.index(one)


def test_a_device_of_a_list_of_devices_is_told_by_its_number(tmp_path: Path) -> None:
    program = """\
import torch

places = [torch.device("cuda:0"), torch.device("cuda:1")]
x = torch.ones(3)
votes = [x.to(place).sum() for place in places]
print(torch.stack(votes).mean())
"""
    found = proposed(tmp_path, program)
    assert ("votes = [x.to(place).sum().to(places[0]) for place in places]",) in found
    unbound = "votes = [x.to(place).sum().to(votes[0].device) for place in places]"
    assert (unbound,) not in found, "there is no list yet while its parts are made"


def test_what_one_expression_leaves_now_on_the_host_is_joined_with_the_rest(tmp_path: Path) -> None:
    program = """\
import torch

kept = {"big": torch.ones(9, device="cuda").cpu(), "small": torch.ones(2, device="cuda")}
norms = [one.norm() for one in kept.values()]
print(torch.stack(norms).sum())
"""
    edited = "print(torch.stack([v.to(norms[0].device) for v in norms]).sum())"
    assert (edited,) in proposed(tmp_path, program)
