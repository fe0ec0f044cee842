"""Wrappers whose model was moved to another GPU than their first."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

_PROGRAM = """\
import torch
from torch import nn

card = torch.device("cuda:1")
net = nn.DataParallel(nn.Linear(3, 4)){moved}
net(torch.randn(4, 3).to(card))
"""


@pytest.mark.parametrize(("moved", "beside"), [(".to(card)", ".to(card)"), ("\nnet.to(card)", "")])
def test_the_gpu_to_which_the_wrapper_is_moved_is_its_own(
    tmp_path: Path, moved: str, beside: str
) -> None:
    row = f"net = nn.DataParallel(nn.Linear(3, 4), device_ids=[card]){beside}"
    assert (row,) in proposed(tmp_path, _PROGRAM.format(moved=moved))


def test_a_wrapper_that_nobody_moves_to_a_named_device_stays(tmp_path: Path) -> None:
    found = proposed(tmp_path, _PROGRAM.format(moved='.to("cuda:1")'))
    assert not any("device_ids" in row for rows in found for row in rows)


def test_the_gpu_that_the_model_is_on_comes_first_of_those_that_are_listed(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

class Settings:
    cards = [0, 1]
    def chosen(self):
        return torch.device("cuda", self.cards[-1])

settings = Settings()
card = settings.chosen()
net = nn.Linear(3, 4).to(card)
net = nn.DataParallel(net, device_ids=settings.cards)
net(torch.randn(4, 3).to(card))
"""
    listed = "[card.index, *(i for i in settings.cards if i != card.index)]"
    assert (f"net = nn.DataParallel(net, device_ids={listed})",) in proposed(tmp_path, program)


@pytest.mark.parametrize(
    ("device", "becomes"),
    [
        ('torch.device("cuda", 1)', 'torch.device("cuda", settings.cards[0])'),
        ('torch.device("cuda")', 'torch.device(f"cuda:{settings.cards[0]}")'),
        (
            '"cuda" if torch.cuda.is_available() else "cpu"',
            'f"cuda:{settings.cards[0]}" if torch.cuda.is_available() else "cpu"',
        ),
    ],
)
def test_what_the_program_calls_its_device_becomes_the_first_of_those_that_are_listed(
    tmp_path: Path, device: str, becomes: str
) -> None:
    first = 0 if "1" in device else 1
    program = f"""\
import torch
from torch import nn

class Settings:
    cards = [{first}, {1 - first}]

def main(settings):
    card = {device}
    net = nn.Linear(3, 4).to(card)
    net = nn.DataParallel(net, device_ids=settings.cards)
    net(torch.randn(4, 3).to(card))

main(Settings())
"""
    assert (f"card = {becomes}",) in proposed(tmp_path, program)


def test_what_is_listed_later_is_not_known_where_the_device_is_chosen(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

def main(given):
    card = torch.device("cuda", 1)
    net = nn.Linear(3, 4).to(card)
    cards = sorted(given)
    net = nn.DataParallel(net, device_ids=cards)
    net(torch.randn(4, 3).to(card))

main([1, 0])
"""
    assert ('card = torch.device("cuda", cards[0])',) not in proposed(tmp_path, program)


def test_the_model_goes_to_the_first_of_the_gpus_that_come_with_its_device(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

def picked(spec):
    return torch.device("cuda"), [int(one) for one in spec.split(",")]

device, ids = picked("1,0")
net = nn.Linear(3, 4)
net.to(device)
if len(ids) > 1:
    net = nn.DataParallel(net, device_ids=ids)
print(net(torch.randn(4, 3).to(device)).sum().item())
"""
    assert ("net.to(ids[0] if ids else device)",) in proposed(tmp_path, program)
