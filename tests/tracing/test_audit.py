"""``diagnose run --simulate --audit``: misplaced tensors that raise no error, at the end of a good run."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import command

HEAD = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))
        self.table = torch.ones(4)

    def forward(self, x):
        return self.body(x) * self.scale

def steps(net, optimizer, loss_of):
    for _ in range(4):
        x = torch.randn(2, 4).to("cuda")
        loss = loss_of(net, x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

"""
PROGRAMS = {
    "healthy": (
        """\
def main():
    net = Net().to("cuda")
    steps(net, torch.optim.Adam(net.parameters()), lambda net, x: net(x))
""",
        ["diagnose: no misplaced tensors found"],
    ),
    "no optimizer": (
        """\
def main():
    net = Net().to("cuda")  # here
    net.head = nn.Linear(4, 2).cuda()
    steps(net, torch.optim.SGD(net.body.parameters(), lr=0.1), lambda net, x: net.head(net(x)))
""",
        ["not-optimized: 2 parameters have gradients and no optimizer: head.weight, head.bias"],
    ),
    "left behind": (
        """\
def main():
    net = Net().to("cuda")  # here
    net.spare = nn.Linear(4, 2)
    steps(net, torch.optim.SGD(net.parameters(), lr=0.1), lambda net, x: net(x))
""",
        [
            "elsewhere: 2 parameters are on cpu, the rest of their model is not: spare.weight, spare.bias"
        ],
    ),
    "meta": (
        """\
def main():
    net = Net().to("cuda")  # here
    net.spare = nn.Linear(4, 2, device="meta")
    steps(net, torch.optim.SGD(net.body.parameters(), lr=0.1), lambda net, x: net(x))
""",
        ["meta: 2 parameters are still on meta, without data: spare.weight, spare.bias"],
    ),
    "copied": (
        """\
def main():
    net = Net().to("cuda")
    steps(net, torch.optim.SGD(net.parameters(), lr=0.1),
          lambda net, x: net(x) + net.table.to(x.device))  # here
""",
        ["copied: the same tensor was copied to cuda:0 4 times"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_audit(name: str, tmp_path: Path) -> None:
    text, expected = PROGRAMS[name]
    text = HEAD + text + "\nmain()\n"
    (tmp_path / "train.py").write_text(text)
    done = command(tmp_path, "run", "--simulate", "--audit", "train.py")
    assert done.returncode == 0, done.stderr
    told = [one for one in done.stderr.splitlines() if one]
    here = next((n for n, one in enumerate(text.splitlines(), 1) if "# here" in one), None)
    where = f"train.py:{here}: " if here is not None else ""
    assert [one[one.index("train.py") :] if "train.py" in one else one for one in told] == [
        where + one for one in expected
    ]
