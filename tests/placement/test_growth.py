"""What a program twice as long costs: the lines of diagnose that run are counted; no clock is looked at."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, check

HEAD = "import torch\nimport numpy as np\nfrom torch import nn\ndev = torch.device('cuda')\n"
#: What stands again and again, each time of another number, in the program itself or in a function of it.
PARTS = {
    "sizes": "x = self.fc(x) * torch.ones(2)\n",
    "operations": "z = torch.ones(2).cuda() + torch.ones(2)\n",
    "variables": "x{n} = torch.ones(2, device=dev)\ny{n} = torch.ones(2)\nz{n} = x{n} + y{n}\n",
    "variables that move": "x{n} = torch.ones(2).to(dev)\ny{n} = torch.ones(2)\nx{n} = x{n}.to(dev)\nx{n} @ y{n}\n",
    "variables of a call": "a{n}, b{n} = make()\na{n} = a{n}.to(dev)\nz = a{n} * torch.ones(2)\n",
    "models": "m{n} = nn.Linear(2, 2).to(dev)\nm{n}(torch.ones(2))\n",
    "models that stay": "m{n} = nn.Linear(2, 2)\nm{n}(torch.ones(2).to(dev))\n",
    "losses": "loss{n} = nn.CrossEntropyLoss(weight=torch.ones(2))\nloss{n}(torch.ones(3, 2, device=dev), torch.ones(3, device=dev))\n",
    "indices": "t{n} = torch.ones(4)\nt{n}[torch.ones(4, device=dev) > 0]\n",
    "generators": "g{n} = torch.Generator()\ntorch.rand(2, generator=g{n}, device=dev)\n",
    "arrays": "h{n} = torch.ones(2, device=dev)\nnp.sum(h{n}.numpy())\n",
    "checkpoints": "s{n} = torch.load('a.pt')\nm = nn.Linear(2, 2).to(dev)\nm.weight + s{n}['w']\n",
    "optimizers": "m{n} = nn.Linear(2, 2)\no{n} = torch.optim.Adam(m{n}.parameters())\nm{n}.to(dev)\nm{n}(torch.ones(2)).sum().backward()\no{n}.step()\n",
    "loaders": "for x{n}, y{n} in torch.utils.data.DataLoader(data):\n    nn.Linear(2, 2).to(dev)(x{n})\n",
    "GPUs": "p{n} = nn.Linear(2, 2).to('cuda:1')\np{n}(torch.ones(2, device='cuda:0'))\n",
    "replicas": "r{n} = nn.DataParallel(nn.Linear(2, 2))\nr{n}(torch.ones(2))\n",
    "conditions": "if flag{n}:\n    v = torch.ones(2, device=dev)\nelse:\n    v = torch.ones(2)\nv + torch.ones(2)\n",
}
CLASSES = {
    "classes": (
        "class M{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n"
        "        self.pe = torch.ones(2)\n        self.parts = [nn.Linear(2, 2)]\n\n    def forward(self, x):\n"
        "        x = self.fc(x) + self.pe + torch.ones(2)\n        return self.parts[0](x)\n\n\n"
        "M{n}().to(dev)(torch.ones(2))\n"
    ),
    "classes that nothing makes": (
        "class M{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n"
        "        self.pe = torch.ones(2)\n\n    def forward(self, x):\n        return self.fc(x) + self.pe + torch.ones(2)\n\n\n"
    ),
    "functions": "def f{n}(x):\n    return x.to(dev) + torch.ones(2)\n\n\nf{n}(torch.ones(2))\n",
    "functions that nothing calls": "def f{n}(x):\n    return x.to(dev) + torch.ones(2)\n\n\n",
}
LAYER = (
    "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n"
    "    def forward(self, x):\n        x = self.fc(x) + torch.ones(2)\n"
)
#: Programs of so many parts, by what grows.
PROGRAMS: dict[str, Callable[[int], str]] = (
    {
        name: lambda size, part=part: HEAD + _times(part, size)
        for name, part in (PARTS | CLASSES).items()
    }
    | {
        f"{name} of a function": lambda size, part=part: (
            HEAD + "def main():\n" + _indented(_times(part, size)) + "\n\nmain()\n"
        )
        for name, part in PARTS.items()
    }
    | {
        f"{name} of a module that nothing makes": lambda size, part=part: (
            HEAD + LAYER + _indented(_indented(_times(part, size)))
        )
        for name, part in PARTS.items()
    }
)
SIZE = 40
#: Twice the lines for what grows with its length; four times would be its square.
MOST = 2.7


def _times(part: str, size: int) -> str:
    return "".join(part.replace("{n}", str(n)) for n in range(size))


def _indented(text: str) -> str:
    return "".join(
        f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True)
    )


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python a call runs."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def judged(text: str) -> None:
    check(Source("grows.py", tuple(text.split("\n")), ast.parse(text)), torch())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_twice_as_long_costs_about_twice_as_much(name: str) -> None:
    short, long = (PROGRAMS[name](SIZE * times) for times in (1, 2))
    judged(short)  # what is made once, as patterns are
    assert lines_run(lambda: judged(long)) < MOST * lines_run(lambda: judged(short))
