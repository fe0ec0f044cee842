"""Checkpoints of GPUs that are not there, and programs that name such GPUs."""

from __future__ import annotations

import io
from pathlib import Path
from unittest import mock

import pytest
import torch
from repair.proofs import proof
from repair.proposals import proposed

from diagnose.simulation import Terms, simulated_gpus

LOADS = """\
import io
from unittest import mock

import torch
from torch import nn

saved = io.BytesIO()
with mock.patch("torch.serialization.location_tag", return_value="cuda:5"):
    torch.save(nn.Linear(3, 2).state_dict(), saved)
saved.seek(0)


def restore(where):
    device = torch.device("cuda:0")
    head = nn.Linear(3, 2)
    head.load_state_dict(torch.load(where))
    return head.to(device)


restore(saved)
"""


def test_the_call_that_loads_says_where_to(tmp_path: Path) -> None:
    found = proposed(tmp_path, LOADS)
    assert ("head.load_state_dict(torch.load(where, map_location=device))",) in found


@pytest.mark.parametrize(
    ("told", "given", "edited"),
    [
        ("None", "map_location=told", "map_location=told or device"),
        ("{}", "**told", "**told, map_location=device"),
    ],
)
def test_a_call_that_hands_on_nothing_says_where_to(
    tmp_path: Path, told: str, given: str, edited: str
) -> None:
    program = LOADS.replace("torch.load(where)", f"torch.load(where, {given})").replace(
        "    head = nn", f"    told = {told}\n    head = nn"
    )
    found = proposed(tmp_path, program)
    assert (f"head.load_state_dict(torch.load(where, {edited}))",) in found


def test_a_call_that_is_told_where_to_stays(tmp_path: Path) -> None:
    told = '    told = {"map_location": "cuda:5"}\n    head = nn'
    program = LOADS.replace("torch.load(where)", "torch.load(where, **told)")
    assert not proposed(tmp_path, program.replace("    head = nn", told))


def test_without_device_checks_gpus_may_be_counted_in_a_circle() -> None:
    saved = io.BytesIO()
    with mock.patch("torch.serialization.location_tag", return_value="cuda:5"):
        torch.save(torch.ones(2), saved)
    saved.seek(0)
    with simulated_gpus(2, terms=Terms(checked=False, wrapped=True)):
        torch.cuda.set_device(3)
        assert torch.cuda.current_device() == 1
        assert str(torch.zeros(1, device="cuda:4").device) == "cuda:0"
        assert str(torch.load(saved).device) == "cuda:1"


_SAVED = """\
import torch
from torch import nn

LEARNER = torch.device("cuda:1")
ARENA = torch.device("cuda:0")
torch.manual_seed(0)
torch.save(nn.Linear(3, 1).to(LEARNER), "net.pt")


def load():
    return torch.load("net.pt", weights_only=False)


print(load()(torch.ones(2, 3, device=ARENA)).sum().item())
"""


def test_what_is_loaded_need_not_end_where_it_was_saved(tmp_path: Path) -> None:
    mapped = ("weights_only=False", "weights_only=False, map_location=ARENA")
    level, guards = proof(
        tmp_path, _SAVED, mapped, kind="map-location", cause="checkpoint-location"
    )
    assert level == "proven", guards
    (tmp_path / "other").mkdir()
    moved = ('"net.pt", weights_only=False)', '"net.pt", weights_only=False).to(ARENA)')
    _, guards = proof(tmp_path / "other", _SAVED, moved, kind="move-module")
    assert guards["homes"] is False
