"""What the replicas of a module share, by its form: what no meeting of values explains."""

from __future__ import annotations

import ast

import pytest

from diagnose.placement.localization.replicas import shared
from diagnose.placement.model import Source

#: Name -> a file; ``# here`` ends the line of what is shared, ``# failed`` those that the traceback shows.
SHARED = {
    "what a class keeps for all its objects": """\
class Gate(nn.Module):
    def learn(self):
        Gate.last = self.raw.detach().exp()
    def forward(self, x, y):
        weight = Gate.last  # here
        return x + weight * y  # failed
""",
    "what another method sets, and the part is called with it": """\
class Cell(nn.Module):
    def forward(self, x, state):
        return self.mix(torch.cat([x, state]))  # failed
class Net(nn.Module):
    def __init__(self):
        self.steps, self.state = 3, None
    def begin(self):
        self.steps = 4
        self.state = self.first.expand(4, 2)
    def forward(self, x):
        state = self.state[0]  # here
        return self.cell(x, state)  # failed
""",
    "tables that an object of the file fills where it asks for them": """\
class Waves:
    def __init__(self):
        self.low = self.high = None
    def rows(self, x):
        if self.low is None or len(self.low) < len(x):  # here
            steps = torch.arange(len(x), device=x.device)
            self.low, self.high = steps.sin(), steps.cos()
        return self.low, self.high
    def __call__(self, x):
        low, high = self.rows(x)
        y = x.flip(0)
        return x * low + y * high  # failed
WAVES = Waves()
""",
}
APART = {
    "the object asks for the device of its tables": """\
class Waves:
    def rows(self, x):
        if self.low is None or self.low.device != x.device:
            self.low = torch.arange(len(x), device=x.device).sin()
        return x * self.low  # failed
""",
    "only __init__ sets it": """\
class Net(nn.Module):
    def __init__(self):
        self.state = torch.zeros(2)
    def forward(self, x):
        return x + self.state  # failed
""",
}


def suspected(text: str) -> int | None:
    lines = text.split("\n")
    failed = [number for number, line in enumerate(lines, 1) if line.endswith("# failed")]
    found = shared(Source("/home/u/run.py", lines, ast.parse(text)), failed)
    return found.line.line if found is not None else None


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_what_replicas_share_is_found_where_it_is_read(text: str) -> None:
    [here] = [n for n, line in enumerate(text.split("\n"), 1) if line.endswith("# here")]
    assert suspected(text) == here


@pytest.mark.parametrize("text", APART.values(), ids=APART)
def test_what_each_replica_has_of_its_own_is_not_suspected(text: str) -> None:
    assert suspected(text) is None
