"""Models that are moved away from their optimizers' states, and loaders that pin what is on a GPU."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed, repaired

PARKED = """\
import torch
from torch import nn

net = nn.Linear(3, 2).cuda()
optimizer = torch.optim.Adam(net.parameters())


def train(net, optimizer):
    net.to("cuda")
    net(torch.ones(4, 3, device="cuda")).sum().backward()
    optimizer.step()


def park(net, optimizer):
    net.cpu()
    for state in optimizer.state.values():
        state.update({key: value.cpu() for key, value in state.items()})


train(net, optimizer)
park(net, optimizer)
train(net, optimizer)
"""


def test_the_state_goes_after_the_model(tmp_path: Path) -> None:
    loop = (
        "for param, state in optimizer.state.items():",
        "for key, value in state.items():",
        'if key != "step" and hasattr(value, "to"):',
        "state[key] = value.to(param.device)",
    )
    found = proposed(tmp_path, PARKED)
    assert found.count(loop) == 2, "after the move, and before the step"


def test_the_state_goes_after_the_model_where_a_caller_moves_that(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Job:
    def __init__(self):
        self.net = nn.Linear(3, 2)
        self.opt = torch.optim.Adam(self.net.parameters())

    def train(self, device):
        self.net(torch.ones(4, 3, device=device)).sum().backward()
        self.opt.step()


def night(weights):
    job = Job()
    job.train("cpu")
    job.net.to("cuda")
    job.train("cuda")


night({})
"""
    loop = (
        "for param, state in job.opt.state.items():",
        "for key, value in state.items():",
        'if key != "step" and hasattr(value, "to"):',
        "state[key] = value.to(param.device)",
    )
    assert loop in proposed(tmp_path, program)


def test_what_is_on_a_gpu_is_not_pinned(tmp_path: Path) -> None:
    program = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.ones(8, 3, device="cuda"))
other = DataLoader(data, batch_size=2)
loader = DataLoader(data, batch_size=4, pin_memory=True)
for (rows,) in loader:
    print(rows.sum().item())
"""
    assert ("loader = DataLoader(data, batch_size=4)",) in proposed(tmp_path, program)


def test_the_model_goes_first_where_an_optimizer_keeps_state_at_once(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Fit:
    def __init__(self, net):
        self.net = net
        self.steps = torch.optim.Adagrad(self.net.parameters(), lr=0.1)

    def run(self, rows):
        place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.net.to(place)
        self.net(rows.to(place)).sum().backward()
        self.steps.step()


Fit(nn.Linear(3, 1)).run(torch.ones(2, 3))
"""
    first = ('self.net.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))',)
    assert first in proposed(tmp_path, program)


def test_a_name_that_the_maker_does_not_know_is_not_used(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Fit:
    def __init__(self, net):
        self.net = net
        self.steps = torch.optim.Adagrad(self.net.parameters(), lr=0.1)

    def run(self, rows, place):
        self.net.to(place)
        self.net(rows.to(place)).sum().backward()
        self.steps.step()


Fit(nn.Linear(3, 1)).run(torch.ones(2, 3), "cuda")
"""
    assert ("self.net.to(place)",) not in proposed(tmp_path, program)


def test_the_state_goes_after_the_model_in_the_method_that_moves_it(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Session:
    def __init__(self, net):
        self.net = net
        self.steps = torch.optim.Adagrad(net.parameters(), lr=0.1, initial_accumulator_value=0.1)

    def on(self, device):
        self.device = torch.device(device)
        self.net.to(self.device)
        return self

    def fit(self, batches):
        for rows in batches:
            loss = self.net(rows.to(self.device)).sum()
            self.steps.zero_grad()
            loss.backward()
            self.steps.step()
        return loss.item()


torch.manual_seed(0)
print(f"{Session(nn.Linear(3, 1)).on('cuda').fit(torch.ones(3, 2, 3)):.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven")
    assert "+        for param, state in self.steps.state.items():" in diff
    assert "         self.net.to(self.device)\n+" in diff
