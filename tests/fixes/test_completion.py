"""An edit is tried in the analysis before it is printed: what fails still is no fix, what would fail next is
part of it."""

from __future__ import annotations

from fixes.test_siblings import APART, patch

from diagnose.casebase.store import load
from diagnose.fixes.completion import completed
from diagnose.fixes.file_edit import FileEdit
from diagnose.fixes.line_gate import Refused
from diagnose.parsing import parse
from diagnose.scene import Scene
from diagnose.sources import Sources
from diagnose.sources.trees import Given

HEAD = "import torch\nfrom torch import nn\n\n\n"


def after(code: str, line: int, function: str, message: str = APART) -> list[str]:
    """The lines that the first edit adds, without their indentation."""
    made = patch(code, line, function, message).splitlines()
    return [one[1:].strip() for one in made if one.startswith("+") and not one.startswith("+++")]


TWO_CAUSES = HEAD + (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.line = nn.Linear(2, 2)\n        self.scale = torch.ones(2)\n\n"
    "    def forward(self, x):\n        shift = torch.zeros(2)\n"
    "        x = self.line(x) + shift\n        return x * self.scale\n\n\n"
    "net = Net().cuda()\nnet(torch.ones(2).cuda())\n"
)


def test_what_fails_behind_for_another_cause_is_mended_with_it() -> None:
    made = after(TWO_CAUSES, 13, "forward")
    assert "shift = torch.zeros(2, device=x.device)" in made
    assert 'self.register_buffer("scale", torch.ones(2), persistent=False)' in made


def test_what_the_traceback_has_passed_did_not_fail() -> None:
    code = TWO_CAUSES.replace("        shift", "        self.scale * x\n        shift")
    code = code.replace("return x * self.scale", "return x")
    assert after(code, 14, "forward") == ["shift = torch.zeros(2, device=x.device)"]


def test_what_nothing_runs_behind_is_left_alone() -> None:
    code = TWO_CAUSES.replace("return x * self.scale", "return x")
    assert after(code, 13, "forward") == ["shift = torch.zeros(2, device=x.device)"]


ONE_OF_TWO = HEAD + (
    "class Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.one = nn.Linear(2, 2).to('cuda:1')\n\n"
    "    def forward(self, x, y):\n        return self.one(x + y)\n\n\n"
    "net = Two()\nx, y = torch.ones(2), torch.ones(2)\n"
    "x, y = x.to('cuda:0'), y.to('cuda:0')\nnet(x, y)\n"
)


def test_operands_of_one_line_move_together() -> None:
    [made] = after(ONE_OF_TWO, 11, "forward", APART.replace("cuda:0 and cpu", "cuda:1 and cuda:0"))
    assert made.count(".to(next(net.parameters()).device)") == 2
    assert "x.device" not in made  # the statement itself moves it


def test_an_edit_after_which_the_line_fails_is_refused() -> None:
    frame = 'Traceback (most recent call last):\n  File "run.py", line 13, in forward\n'
    sources = Sources([Given({"run.py": TWO_CAUSES})])
    knowledge = load().knowledge
    scene = Scene(parse(frame + APART, knowledge=knowledge), knowledge, sources)
    text = TWO_CAUSES.replace("x * self.scale", "self.scale * x")
    beside = FileEdit("run.py", 14, "", "", None, text)
    refused = completed(beside, scene)
    assert isinstance(refused, Refused)
    right = text.replace("torch.zeros(2)", "torch.zeros(2, device=x.device)")
    made = completed(beside._replace(text=right), scene)
    assert isinstance(made, FileEdit)
    assert "register_buffer" in made.text
