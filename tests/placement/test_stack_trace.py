"""The traceback leads the analysis: its lines ran, its calls entered the functions that it shows."""

from __future__ import annotations

import pytest

from diagnose.pipeline import diagnose
from diagnose.sources import Sources
from diagnose.sources.trees import Given

APART = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"

#: Files, the lines of the traceback in them, the cause, the line to edit.
CASES = {
    "a call of what nobody knows goes on to the function that is shown": (
        {
            "run.py": "import torch\nfrom torch import nn\n\n\nclass Whole(nn.Module):\n"
            "    def step(self, rows):\n        return self.parts[0].forward(rows, torch.zeros(3))\n",
            "net.py": "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.scale = nn.Linear(3, 3)\n\n"
            "    def forward(self, x, y):\n        return self.scale(x) + y\n",
        },
        [("run.py", 7, "step"), ("net.py", 11, "forward")],
        ("created-without-device", "run.py", 7),
    ),
    "the block of a line ran, whatever a default says": (
        {
            "run.py": "import torch\n\n\ndef pad(x, more=False):\n    if more:\n"
            "        rest = torch.zeros(3)\n        x = x + rest\n    return x\n",
        },
        [("run.py", 7, "pad")],
        ("created-without-device", "run.py", 6),
    ),
    "a function within a method ran, though only a library calls it": (
        {
            "run.py": "import torch\n\n\nclass Mask:\n    def hang(self, tensor):\n"
            "        def hook(grad):\n            keep = torch.eye(3)\n            return grad * keep\n\n"
            "        tensor.register_hook(hook)\n",
        },
        [("run.py", 8, "hook")],
        ("created-without-device", "run.py", 7),
    ),
    "what an imported file does as a program did not run": (
        {
            "train.py": "from net import Net\n\nnet = Net().cuda()\nnet.run(net.rows())\n",
            "net.py": "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
            "    def rows(self):\n        return torch.ones(3)\n\n"
            "    def run(self, x):\n        return x + torch.zeros(3).cuda()\n\n\n"
            'if __name__ == "__main__":\n    data = torch.zeros(3)\n    print(Net().run(data))\n',
        },
        [("train.py", 4, "<module>"), ("net.py", 10, "run")],
        ("created-without-device", "net.py", 7),
    ),
    "a line alone names a GPU beside what nobody knows": (
        {
            "run.py": "import torch\n\n\ndef rows(x):\n    first = torch.arange(3).cuda()\n    return first + x[0]\n",
        },
        [("run.py", 6, "rows")],
        ("hardcoded-device", "run.py", 6),  # where the edit is, which moves it
    ),
    "an item of a list that nobody knows": (
        {
            "run.py": "import torch\n\n\ndef join(words):\n    found = []\n    for word in words:\n"
            "        found.append(word.embedding)\n    found.append(torch.zeros(1, 3))\n"
            "    return torch.cat(found, 0)\n",
        },
        [("run.py", 9, "join")],
        ("created-without-device", "run.py", 8),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_traceback_leads(name: str) -> None:
    files, frames, wanted = CASES[name]
    rows = [f'  File "{file}", line {line}, in {function}' for file, line, function in frames]
    text = "\n".join(["Traceback (most recent call last):", *rows, APART])
    found = diagnose(text, sources=Sources([Given(files)]))
    culprit = found.culprit
    assert culprit is not None
    assert (found.causes[0].id, culprit.file, culprit.line) == wanted
