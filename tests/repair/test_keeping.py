"""What objects keep that are no modules: it is brought to its device once."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed, repaired

_HOOK = """\
import torch
from torch import nn


class Smoothing{base}:
    def __init__(self, size):
        super().__init__()
        self.prior = torch.full((size,), 1 / size)

    def __call__(self, scores):
        return scores.softmax(-1) + self.prior


hook = Smoothing(3)
print(hook(torch.ones(2, 3, device="cuda")))
"""


def test_an_object_keeps_what_it_has_brought(tmp_path: Path) -> None:
    kept = ("self.prior = self.prior.to(scores.device)",)
    assert kept in proposed(tmp_path, _HOOK.format(base=""))


def test_a_module_registers_first(tmp_path: Path) -> None:
    found = proposed(tmp_path, _HOOK.format(base="(nn.Module)"))
    registered = [at for at, rows in enumerate(found) if "register_buffer" in "".join(rows)]
    assert registered[0] < found.index(("self.prior = self.prior.to(scores.device)",))


def test_a_module_with_weights_only_registers(tmp_path: Path) -> None:
    weighing = "super().__init__()\n        self.weight = nn.Parameter(torch.ones(1))"
    program = _HOOK.format(base="(nn.Module)").replace("super().__init__()", weighing)
    found = proposed(tmp_path, program)
    assert ("self.prior = self.prior.to(scores.device)",) not in found


def test_what_is_handed_on_is_kept_where_the_object_hands_it_on(tmp_path: Path) -> None:
    program = """\
import torch


def spread(levels, gap):
    above = gap.relu()
    return (levels * above).mean()


class Quantiles:
    def __init__(self, *levels):
        self.levels = torch.tensor(levels)

    def __call__(self, rows):
        return spread(self.levels, rows.unsqueeze(-1))


print(Quantiles(0.1, 0.9)(torch.ones(4, device="cuda")))
"""
    assert ("self.levels = self.levels.to(rows.device)",) in proposed(tmp_path, program)


def test_an_object_that_can_move_itself_is_told_to(tmp_path: Path) -> None:
    program = """\
import torch


class Scales:
    def __init__(self):
        self.high = torch.ones(3)

    def to(self, device):
        self.high = self.high.to(device)
        return self


def unpack(codes, scales):
    return codes * scales.high


x, known = torch.ones(3, device="cuda"), Scales()
print(unpack(x, known))
"""
    assert ("print(unpack(x, known.to(x.device)))",) in proposed(tmp_path, program)


def test_what_another_object_keeps_is_kept_there(tmp_path: Path) -> None:
    program = """\
import torch


class Schedule:
    def __init__(self):
        self.steps = torch.linspace(0, 1, 9)


def weights(schedule, at):
    return schedule.steps[at]


print(weights(Schedule(), torch.tensor([1, 2], device="cuda")))
"""
    row = "schedule.steps = schedule.steps.to(at.device)"
    assert (row,) in proposed(tmp_path, program)


def test_what_a_variable_was_made_of_is_kept_before_that(tmp_path: Path) -> None:
    program = """\
import torch


class Favouring:
    def __init__(self, size):
        self.bonus = torch.zeros(size)

    def __call__(self, scores):
        rows = self.bonus.unsqueeze(0).repeat(len(scores), 1)
        rows[:, 0] = 4.0
        return scores + rows


print(Favouring(3)(torch.ones(2, 3, device="cuda")))
"""
    assert ("self.bonus = self.bonus.to(scores.device)",) in proposed(tmp_path, program)


_SCALED = """\
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(3)
        self.spread = torch.ones(3)

    def fit(self, rows):
        self.mean, self.spread = rows.mean(0), rows.std(0)

    def forward(self, x):
        return (x - self.mean) / self.spread


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.out = Scale(), nn.Linear(3, 1)

    def forward(self, x):
        return self.out(self.scale(x))


torch.manual_seed(0)
net = Net()
net.scale.fit(torch.rand(8, 3))
net.cuda()
print(net(torch.ones(2, 3).cuda()).sum().item())
"""


def test_a_tensor_that_is_set_again_is_registered_where_it_is_kept_first(tmp_path: Path) -> None:
    _, level, diff = repaired(tmp_path, _SCALED)
    assert level == "proven"
    assert 'register_buffer("mean"' in diff and 'register_buffer("spread"' in diff
    assert '.to("cuda' not in diff
