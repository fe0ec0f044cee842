"""An edit of a failing line fixes what fails next for the same reason, and asks nothing that is not there."""

from __future__ import annotations

from diagnose.pipeline import diagnose
from diagnose.sources import Sources
from diagnose.sources.trees import Given

NUMPY = (
    "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
    "to host memory first."
)
APART = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def patch(code: str, line: int, function: str, message: str) -> str:
    """What the first fix of a failing line changes."""
    frame = f'Traceback (most recent call last):\n  File "run.py", line {line}, in {function}\n'
    found = diagnose(frame + message, sources=Sources([Given({"run.py": code})]))
    return next((fix.patch for fix in found.causes[0].fixes if fix.patch), "")


def test_numpys_other_calls_of_the_same_tensors_are_mended() -> None:
    code = (
        "def ends(graph, other):\n    first, last = graph.edges()\n    rows = list(first.numpy())\n"
        "    columns = list(last.numpy())\n    return rows, columns, other.numpy()\n"
    )
    made = patch(code, 3, "ends", NUMPY)
    assert "+    rows = list(first.detach().cpu().numpy())" in made
    assert "+    columns = list(last.detach().cpu().numpy())" in made
    assert "other.detach()" not in made


def test_what_is_a_list_is_not_copied_as_a_tensor() -> None:
    code = (
        "import numpy as np\n\n\ndef mean(rows):\n    found = []\n    for row in rows:\n"
        "        found.append(row.pow(2))\n    found = np.asarray(found)\n    return found\n"
    )
    assert "found.detach()" not in patch(code, 8, "mean", NUMPY)


def test_an_attribute_that_is_set_later_is_not_asked() -> None:
    code = (
        "import torch\nfrom torch import nn\n\n\nclass Runner:\n    def __init__(self, wanted):\n"
        "        self.net = self.build()\n        self.device = torch.device(wanted)\n\n"
        "    def build(self):\n        net = nn.Linear(2, 2)\n        return net\n\n"
        "    def run(self, x):\n        return self.net(x.to(self.device))\n"
    )
    message = "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
    assert "nn.Linear(2, 2).to(self.device)" not in patch(code, 15, "run", message)
    before = code.replace("        self.net = self.build()\n", "")
    before = before.replace("(wanted)\n", "(wanted)\n        self.net = self.build()\n")
    assert "nn.Linear(2, 2).to(self.device)" in patch(before, 15, "run", message)


def test_all_that_a_loop_gives_to_the_model_and_its_loss_is_moved() -> None:
    code = (
        "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\n\n"
        "device = torch.device('cuda')\nnet = nn.Linear(2, 2).to(device)\nloss = nn.MSELoss()\n"
        "rows = TensorDataset(torch.ones(4, 2), torch.ones(4, 2))\n"
        "for x, y in DataLoader(rows):\n    size = len(y)\n    print(size, loss(net(x), y))\n"
    )
    made = patch(code, 11, "<module>", APART)
    assert "+    x = x.to(device)" in made
    assert "+    y = y.to(device)" in made


def test_an_input_that_is_read_again_is_moved_for_both() -> None:
    code = (
        "import torch\nfrom torch import nn\n\n\nclass Both(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.one = nn.Linear(2, 2)\n        self.two = nn.Linear(2, 2)\n\n"
        "    def forward(self, x):\n        kept = x.cpu()\n        first = self.one(kept)\n"
        "        return first, self.two(kept)\n\n\nnet = Both().cuda()\nnet(torch.ones(2).cuda())\n"
    )
    assert "+        kept = kept.to(" in patch(code, 13, "forward", APART)
    alone = code.replace("self.two(kept)", "self.two(x)")
    assert "+        first = self.one(kept.to(" in patch(alone, 13, "forward", APART)
    shown = code.replace("self.two(kept)", "print(kept)")
    assert "+        first = self.one(kept.to(" in patch(shown, 13, "forward", APART)
