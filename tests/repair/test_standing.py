"""Patches after which a program runs and prints what it should, and which leave something where it does not
belong in the meantime; beside each the right one."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proofs import proof


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


#: A judge that rests on the cpu, and is brought to the GPU for as long as it is needed.
RESTING = """\
import copy
from contextlib import contextmanager
import torch
from torch import nn

device = torch.device("cuda")
player = nn.Linear(4, 3).to(device)
judge = copy.deepcopy(player).to("cpu")


@contextmanager
def awake(model):
    model.to(device)
    yield
    model.to("cpu")


def judged(x):
    return judge(x).sum().item()


x = torch.ones(2, 4, device=device)
for _ in range(2):
    with awake(judge):
        print(judged(x))
    print(player(x).sum().item())
print(judged(x))
ENDED
"""


@pytest.mark.parametrize("ended", ["", "player(x)"])
def test_what_comes_and_goes_does_not_stay(folder: Path, ended: str) -> None:
    program = RESTING.replace("ENDED\n", f"{ended}\n" if ended else "")
    stays = ("return judge(x)", "return judge.to(x.device)(x)")
    level, guards = proof(folder, program, stays)
    assert guards["put-away"] is False
    assert level == "same-numbers"
    goes = (
        f"player(x).sum().item())\nprint(judged(x))\n{ended}",
        f"player(x).sum().item())\nwith awake(judge):\n    print(judged(x))\n{ended}",
    )
    level, guards = proof(folder, program, goes)
    assert level == "proven", guards


#: Layers on two GPUs, the second of which keeps its sums on the first.
TWO = """\
import torch
from torch import nn


class Summing(nn.Module):
    def __init__(self, home):
        super().__init__()
        self.low = nn.Linear(4, 4)
        self.home = home

    def forward(self, x):
        past = torch.ones(4, device=self.home)
        return self.low(x + past)


first, second = nn.Linear(4, 4).to("cuda:0"), Summing("cuda:0").to("cuda:1")
x = first(torch.ones(2, 4, device="cuda:0")).to("cuda:1")
print(second(x).sum().item())
"""


def test_what_a_layer_computes_with_comes_to_its_gpu(folder: Path) -> None:
    away = ("self.low(x + past)", "self.low((x.to(past.device) + past).to(x.device))")
    level, guards = proof(folder, TWO, away, kind="move-tensor-at-line")
    assert guards["carried"] is False
    assert level == "same-numbers"
    level, guards = proof(
        folder, TWO, ("x + past", "x + past.to(x.device)"), kind="move-tensor-at-line"
    )
    assert "carried" not in guards


#: A loss on the second GPU, divided by a number that stayed on the first.
COUNTED = """\
import torch
from torch import nn

low, high = nn.Linear(4, 4).to("cuda:0"), nn.Linear(4, 2).to("cuda:1")
count = torch.tensor([2.0, 4.0], device="cuda:0")
out = high(low(torch.ones(2, 4, device="cuda:0")).to("cuda:1"))
loss = (out.sum(0) / count).sum()
loss.backward()
print(loss.item())
"""


def test_what_trains_is_not_carried_after_what_does_not(folder: Path) -> None:
    follows = ("(out.sum(0) / count)", "(out.sum(0).to(count.device) / count)")
    level, guards = proof(folder, COUNTED, follows, kind="move-tensor-at-line")
    assert guards["carried"] is False
    assert level == "same-numbers"
    comes = ("(out.sum(0) / count)", "(out.sum(0) / count.to(out.device))")
    level, guards = proof(folder, COUNTED, comes, kind="move-tensor-at-line")
    assert level == "proven", guards


#: Lengths of which torch itself brings the order to the GPU, in another function.
PACKED = """\
import torch
from torch import nn
from torch.utils.data import DataLoader


def packed(rows, lengths):
    return nn.utils.rnn.pack_padded_sequence(
        rows, lengths, batch_first=True, enforce_sorted=False
    )


def step(x, lengths, y):
    x = x.to("cuda")
    return packed(x, lengths).data.sum() * y.sum()


rows = [(torch.ones(4, 2) * at, 4 - at % 2, float(at)) for at in range(4)]
for batch in DataLoader(rows, batch_size=2):
    print(step(*batch).item())
"""


def test_what_torch_moves_of_a_batch_is_moved_by_nobody_else(folder: Path) -> None:
    program = PACKED.replace("y.sum()", "(y + x[:, 0, 0]).sum()")
    level, guards = proof(folder, program, ("(y + ", "(y.to(x.device) + "), kind="move-input")
    assert level == "proven", guards
