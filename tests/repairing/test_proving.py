"""Patches that run and are wrong, each in another way, and the guard that sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.repairing.model import Candidate, Guard, Proof
from diagnose.repairing.proving import _stopgap, settled

TRAINS = """\
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(4, 3).cuda()
head = nn.Linear(3, 2)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
data = torch.randn(8, 4, device="cuda")
for step in range(4):
    loss = head(model(data)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""
SECOND_GPU = """\
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(4, 3).cuda(torch.cuda.device_count() - 1)
data = torch.randn(8, 4, device="cuda")
for _ in range(3):
    out = model(data)
print(out.sum().item())
"""

HIDDEN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.layers[0](x))


torch.manual_seed(1)
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 4, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
"""

MOVED = ("nn.Linear(3, 2)", "nn.Linear(3, 2).cuda()")


def proof(
    folder: Path, program: str, *edits: tuple[str, str], kind: str = "move-module"
) -> tuple[str, dict[str, bool | None]]:
    """What is said of a program with some texts replaced; the edit stands where the first of them is."""
    (folder / "train.py").write_text(program)
    edited = folder.parent / "edited.py"
    text = program
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    edited.write_text(text)
    line = program[: program.index(edits[0][0])].count("\n") + 1
    script = Path(__file__).parent / "prove.py"
    command = [sys.executable, script, folder, "train.py", edited, str(line), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    level, guards = json.loads(done.stdout)
    return level, guards


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


def test_the_right_patch_is_proven(folder: Path) -> None:
    level, guards = proof(folder, TRAINS, MOVED)
    assert level == "proven"
    assert guards["output"] and guards["trained"] and guards["on-gpu"]
    assert guards["gpus-1"] is True
    assert guards["gpus-0"] is None, "the program itself needs a GPU"


WRONG = {
    "homes": [("nn.Linear(4, 3).cuda()", "nn.Linear(4, 3)"), (', device="cuda"', "")],
    "to-host": [("head(model(data))", "head(model(data).cpu())")],
    "trained": [MOVED, ("[*model.parameters(), *head.parameters()]", "[*model.parameters()]")],
    "output": [MOVED, ("model(data))", "model(data).detach())")],
}


@pytest.mark.parametrize("guard", WRONG)
def test_a_patch_that_runs_and_is_wrong_is_not_proven(folder: Path, guard: str) -> None:
    level, guards = proof(folder, TRAINS, *WRONG[guard])
    assert level != "proven"
    assert guards[guard] is False, guards


def test_layers_that_are_registered_are_moved_and_trained(folder: Path) -> None:
    registered = ("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])")
    level, guards = proof(folder, HIDDEN, registered, kind="register-module")
    assert level == "proven"
    assert guards["on-gpu"] is True, "what we compute of parameters is none of the program's"
    assert guards["output"] is None, "it trains more than it was meant to"


def test_layers_that_stay_untrained_are_seen_as_diagnose_verify_sees_them(folder: Path) -> None:
    in_place = ("[nn.Linear(4, 4)]", "[nn.Linear(4, 4).cuda()]")
    level, guards = proof(folder, HIDDEN, in_place)
    assert guards["output"] and guards["trained"]
    assert guards["unseen-layers"] is False
    assert level == "same-numbers"


def test_a_gradient_that_is_cut_is_seen(folder: Path) -> None:
    cut = ("self.layers[0](x))", "self.layers[0](x.cpu()).detach().cuda())")
    level, guards = proof(folder, HIDDEN, cut)
    assert guards["output"] and guards["trained"], "the layers before it are not trained at all"
    assert guards["gradients"] is False
    assert level != "proven"


def test_a_move_where_a_value_is_used_may_be_the_best_there_is_and_an_undone_offload_is_not() -> (
    None
):
    def level(kind: str, *, stopgap: bool) -> str:
        edit = Candidate("offloaded-to-cpu", "", kind, "", "train.py", 3, "", stopgap)
        guards = (Guard("output", True, ""), _stopgap([edit], "en"))
        return settled(Proof("same-numbers", guards), "en").level

    assert level("move-tensor-at-line", stopgap=True) == "proven"
    assert level("use-like-device-of-other", stopgap=True) == "same-numbers"
    assert level("use-like-device-of-other", stopgap=False) == "proven"


def test_what_only_a_second_gpu_hides_is_seen_on_one(folder: Path) -> None:
    level, guards = proof(
        folder, SECOND_GPU, ('device="cuda")', 'device="cuda:1")'), kind="create-on-device"
    )
    assert guards["gpus-1"] is False
    assert level == "same-numbers"


def test_a_copy_in_each_step_is_seen(folder: Path) -> None:
    level, guards = proof(
        folder,
        SECOND_GPU,
        ("model(data)", "model(data.to(model.weight.device))"),
        kind="move-input",
    )
    assert guards["copied"] is False
    assert level == "same-numbers"


REMEMBERS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(3)

    def forward(self, x):
        state = self.state
        self.state = torch.ones(3)
        return x + state


print(Net()(torch.ones(2, 3, device="cuda")).sum().item())
"""


def test_what_fails_with_the_second_batch_is_seen(folder: Path) -> None:
    level, guards = proof(folder, REMEMBERS, ("torch.zeros(3)", 'torch.zeros(3, device="cuda")'))
    assert guards["output"] is True
    assert guards["again"] is False
    assert level == "same-numbers"


SKELETON = """\
import torch
from torch import nn

with torch.device("meta"):
    model = nn.Linear(4, 3)
model.to("cuda")
print(model(torch.ones(2, 4, device="cuda")).sum().item())
"""


def test_memory_that_nobody_wrote_to_proves_nothing(folder: Path) -> None:
    edit = ('model.to("cuda")', 'model.to_empty(device="cuda")')
    level, guards = proof(folder, SKELETON, edit, kind="materialize-meta")
    assert guards["output"] is False
    assert level == "runs"


def test_another_gpu_by_its_number_is_right_on_this_machine_alone(folder: Path) -> None:
    program = SECOND_GPU.replace('device="cuda"', "")
    level, guards = proof(
        folder, program, ("randn(8, 4, )", 'randn(8, 4, device="cuda:1")'), kind="create-on-device"
    )
    assert guards["output"] is True
    assert guards["numbered"] is False
    assert level == "same-numbers"


def test_an_edit_that_never_ran_proves_nothing(folder: Path) -> None:
    program = TRAINS.replace(*MOVED).replace(
        "torch.manual_seed(1)\n", "def unused(x):\n    return x\n\n\ntorch.manual_seed(1)\n"
    )
    level, guards = proof(folder, program, ("return x", "return x.cuda()"))
    assert guards["exercised"] is False
    assert level == "same-numbers"


TABLE = """\
import torch

x = torch.ones(4, device="cuda")
table = torch.arange(4.0)



print((table * 2 + x).sum().item())



print((table + x).sum().item())
"""
#: It only moves the failure on: the next line fails of the same table.
FIRST = """\
--- a/train.py
+++ b/train.py
@@ -8 +8 @@
-print((table * 2 + x).sum().item())
+print((table.to(x.device) * 2 + x).sum().item())
"""


def test_an_edit_that_is_not_needed_in_the_end_goes(folder: Path) -> None:
    (folder / "train.py").write_text(TABLE)
    patch = folder.parent / "first.diff"
    patch.write_text(FIRST)
    script = Path(__file__).parent / "search.py"
    command = [sys.executable, script, folder, "train.py", patch, "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    changed = [row for row in done.stdout.splitlines() if row[:1] == "+" and row[:3] != "+++"]
    assert changed == ["+table = torch.arange(4.0, device=x.device)"], done.stdout
