"""What a function binds and uses several times, brought there where it is bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

PROGRAM = """\
import torch


class HostSGD:
    def __init__(self, params):
        self.params = params
        self.master = [p.detach().float().cpu() for p in params]
        self.speed = [torch.zeros_like(w) for w in self.master]

    @torch.no_grad()
    def step(self):
        for p, w, v in zip(self.params, self.master, self.speed):
            g = p.grad.float()
            USE
            w.sub_(v + g)
            p.copy_(w)


weight = torch.ones(3, device="cuda", requires_grad=True)
weight.sum().backward()
HostSGD([weight]).step()
"""


@pytest.mark.parametrize("use", ["v.mul_(0.9).add_(g)", "v.add_(g * 0.1)", "v.add_(g, alpha=0.1)"])
def test_a_variable_is_brought_to_what_it_meets_where_it_is_bound(tmp_path: Path, use: str) -> None:
    found = proposed(tmp_path, PROGRAM.replace("USE", use))
    assert ("g = p.grad.float().to(v.device)",) in found


def test_a_number_is_left_where_it_is_bound(tmp_path: Path) -> None:
    found = proposed(
        tmp_path, PROGRAM.replace("USE", "rate = g.mean()\n            v.add_(g * rate)")
    )
    assert ("g = p.grad.float().to(v.device)",) in found
    assert not any("rate = g.mean().to" in row for one in found for row in one)
