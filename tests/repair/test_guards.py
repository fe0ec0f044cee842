"""Patches that are right, whose programs do what guards look for; and wrong ones that look the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.guards import guards_of_run
from repair.proofs import proof

from diagnose.processes import TOO_LONG
from diagnose.repair.model import Candidate, Ran
from diagnose.repair.patch import Patch
from diagnose.repair.validation.case import Unexercised
from diagnose.repair.validation.differential import exercised
from diagnose.repair.validation.patch_edits import stopgap


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


#: Replicas that draw random numbers, and begin when they like.
REPLICAS = """\
import secrets
import time
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x, mask):
        time.sleep(secrets.randbelow(3) / 100)
        return self.drop(self.low(x)) * mask


torch.manual_seed(1)
net = nn.DataParallel(Net().cuda(), device_ids=[0, 1])
shift = torch.ones(4)
for _ in range(4):
    out = net(torch.ones(4, 4).cuda(), torch.ones(4, 4).cuda())
    print((out + shift).pow(2).mean().item())
"""


def test_replicas_draw_the_same_numbers_in_each_run(folder: Path) -> None:
    made = ("shift = torch.ones(4)", 'shift = torch.ones(4, device="cuda")')
    level, guards = proof(folder, REPLICAS, made, kind="create-on-device")
    assert level == "proven", guards
    other = ("shift = torch.ones(4)", 'shift = torch.full((4,), 1.02, device="cuda")')
    level, guards = proof(folder, REPLICAS, other, kind="create-on-device")
    assert guards["output"] is False


#: A library that draws on the cpu, and refuses the generator of a GPU there.
LIBRARY = """\
import torch


def noise(shape, generator, device):
    if generator.device.type == "cuda" and device.type == "cpu":
        raise ValueError("Cannot generate a cpu tensor from a generator of type cuda.")
    return torch.randn(shape, generator=generator, device=generator.device).to(device)
"""
DRAWS = """\
import sys
import torch
sys.path.insert(0, "site-packages")
from drawlib import noise

model = torch.nn.Linear(3, 3)
generator = torch.Generator("cuda").manual_seed(4)
print(model(noise((2, 3), generator, torch.device("cpu"))).sum().item())
"""


def test_a_library_that_checks_generators_has_a_reference(folder: Path) -> None:
    packages = folder / "site-packages"
    packages.mkdir()
    (packages / "drawlib.py").write_text(LIBRARY)
    right = ('Generator("cuda")', 'Generator("cpu")')
    level, guards = proof(folder, DRAWS, right, kind="generator-on-device")
    assert level == "proven", guards
    wrong = ('Generator("cuda").manual_seed(4)', 'Generator("cpu").manual_seed(5)')
    level, guards = proof(folder, DRAWS, wrong, kind="generator-on-device")
    assert guards["output"] is False
    assert level == "runs"


#: What a model says is collected, joined and given to NumPy.
COLLECTS = """\
import numpy as np
import torch
from torch import nn


def collected(model, batches):
    found = []
    for batch in batches:
        found.append(model(batch.to("cuda")).argmax(1))
    return torch.cat(found)


torch.manual_seed(1)
model = nn.Linear(4, 3).to("cuda")
print(np.bincount(collected(model, torch.randn(3, 8, 4)), minlength=3))
"""


def test_what_goes_to_numpy_is_joined_on_the_cpu_and_not_computed_there(folder: Path) -> None:
    joined = ("argmax(1))", "argmax(1).cpu())")
    level, guards = proof(folder, COLLECTS, joined, kind="cpu-before-numpy")
    assert level == "proven", guards
    counted_there = ('"cuda")).argmax(1))', '"cuda")).cpu().argmax(1))')
    level, guards = proof(folder, COLLECTS, counted_there, kind="cpu-before-numpy")
    assert level == "proven", guards
    computed = ('model(batch.to("cuda"))', "model.cpu()(batch)")
    level, guards = proof(folder, COLLECTS, computed, kind="cpu-before-numpy")
    assert guards["on-gpu"] is False


#: A call puts a layer away, and whoever calls brings it back.
BROUGHT_BACK = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.high = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        x = self.low(x)
        self.low.to("cpu")
        return self.high(x)


torch.manual_seed(1)
net = Net()
for _ in range(TIMES):
    net.to("cuda")
    print(net(torch.ones(2, 4)).sum().item())
"""


@pytest.mark.parametrize(("times", "passes"), [(2, True), (1, False)])
def test_the_programs_own_second_call_counts(folder: Path, times: int, passes: bool) -> None:
    program = BROUGHT_BACK.replace("TIMES", str(times))
    made = ("torch.ones(2, 4)", 'torch.ones(2, 4, device="cuda")')
    _, guards = proof(folder, program, made, kind="create-on-device")
    assert guards["again"] is passes


#: Without a GPU another line is printed, and an id that no two runs share.
TIMED = """\
import os
import torch

scale = torch.arange(3.0)
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    print("no GPU", flush=True)
print(f"id {os.urandom(8).hex()}")
x = torch.ones(3, device=device)
print((x * scale).sum().item())
"""


def test_what_differs_from_itself_is_told_for_each_number_of_gpus(folder: Path) -> None:
    made = (
        "torch.arange(3.0)",
        "torch.arange(3.0).cuda() if torch.cuda.is_available() else torch.arange(3.0)",
    )
    level, guards = proof(folder, TIMED, made, kind="create-on-device")
    assert guards["gpus-0"] is True
    assert level == "proven", guards


#: A skeleton that gets its weights later; the checkpoint has those of a part alone.
LACKING = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    weights = {f"body.{name}": one for name, one in nn.Linear(4, 4).state_dict().items()}
    with torch.device("meta"):
        net = Net()
    net.load_state_dict(weights, strict=False, assign=True)
    net.to("cuda")
    AFTER
    print(net(torch.ones(2, 4, device="cuda")).sum().item())


main()
"""
STARTED = "nn.init.ones_(net.head.weight), nn.init.zeros_(net.head.bias)"


@pytest.mark.parametrize(("after", "known"), [("", False), (STARTED, True)])
def test_what_a_checkpoint_lacks_proves_nothing_unless_it_is_written(
    folder: Path, after: str, known: bool
) -> None:
    program = LACKING.replace("    AFTER\n", f"    {after}\n" if after else "")
    made = ('torch.device("meta")', 'torch.device("cpu")')
    level, guards = proof(folder, program, made, kind="materialize-meta")
    assert guards["output"] is (True if known else None)
    assert guards["gives-up"] is False, "what is loaded would be made twice"
    assert level == ("same-numbers" if known else "runs")


#: Rows are made by a loader's worker, and a function is compiled.
WORKS = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, at):
        return torch.ones(3) * at


def never(x):
    return x


if __name__ == "__main__":
    for rows in DataLoader(Rows(), batch_size=2, num_workers=1):
        print(rows.to("cuda").sum().item())
"""


def test_what_a_worker_runs_has_run(folder: Path) -> None:
    _, guards = proof(folder, WORKS, ("torch.ones(3) * at", "at * torch.ones(3)"))
    assert guards["exercised"] is True
    _, guards = proof(folder, WORKS, ("return x", "return x.cuda()"))
    assert guards["exercised"] is False
    compiled = WORKS.replace("def never", "@torch.jit.script\ndef never")
    _, guards = proof(folder, compiled, ("return x", "return x.cuda()"))
    assert guards["exercised"] is None


#: A loader pins what is on a GPU already.
PINNED = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

device = "cuda"
rows = torch.arange(6.0).view(3, 2).to(device)
for (batch,) in DataLoader(TensorDataset(rows), batch_size=2, pin_memory=True):
    print((batch.to(device) * 2).sum().item())
"""


def test_what_cannot_be_pinned_has_a_reference(folder: Path) -> None:
    level, guards = proof(folder, PINNED, ("pin_memory=True", "pin_memory=False"))
    assert level == "proven", guards
    other = ("pin_memory=True", "pin_memory=False, drop_last=True")
    assert proof(folder, PINNED, other)[1]["output"] is False


def test_what_the_program_brings_to_the_cpu_is_left_there() -> None:
    def holds(old: str, new: str) -> bool | None:
        patch = f"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{old}\n+{new}\n"
        edit = Candidate("loss-or-metric-state", "", "move-tensor-at-line", "", "a.py", 1, patch)
        (found,) = guards_of_run(stopgap, Ran(0), [edit], text=f"{old}\n")
        return found.holds

    assert holds("found.append(model(x).cpu())", "found.append(model(x).to(y.device))") is False
    assert holds('self.table = table.to("cpu")', "self.table = table.to(device)") is False
    assert holds("loss(found.cpu(), y)", "loss(found.cpu(), y.cpu())") is True
    assert holds('torch.load(file, map_location="cpu")', "torch.load(file, map_location=d)") is True


#: A table that its module keeps on the cpu, and of which each call uses a part.
SLICED = """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(12.0).view(6, 2)

    def forward(self, x):
        return x + self.table[: len(x)]


net = Positions().to("cuda")
print(net(torch.ones(2, 2, device="cuda")).sum().item())
"""


def test_a_part_of_a_table_is_copied_as_the_table_is(folder: Path) -> None:
    used = ("self.table[: len(x)]", "self.table[: len(x)].to(x.device)")
    level, guards = proof(folder, SLICED, used, kind="move-input")
    assert guards["copied"] is False
    assert level == "same-numbers"
    kept = (
        "self.table = torch.arange(12.0).view(6, 2)",
        'self.register_buffer("table", torch.arange(12.0).view(6, 2))',
    )
    level, guards = proof(folder, SLICED, kept, kind="register-buffer")
    assert level == "proven", guards


#: A direction that a block keeps, and scales in each call.
SCALED = """\
import torch
from torch import nn


class Steered(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(2, 2)
        self.direction = torch.ones(2)
        self.rows = torch.arange(12.0).view(6, 2)

    def forward(self, x, at):
        return self.low(x) + SHIFT


net = Steered().to("cuda")
print(net(torch.ones(3, 2, device="cuda"), torch.arange(3)).sum().item())
"""


def test_what_is_computed_of_a_kept_tensor_is_copied_as_that_is(folder: Path) -> None:
    program = SCALED.replace("SHIFT", "4 * self.direction")
    used = ("4 * self.direction", "(4 * self.direction).to(x.device)")
    level, guards = proof(folder, program, used, kind="move-tensor-at-line")
    assert guards["copied"] is False
    assert level == "same-numbers"
    kept = (
        "self.direction = torch.ones(2)",
        'self.register_buffer("direction", torch.ones(2), persistent=False)',
    )
    level, guards = proof(folder, program, kept, kind="register-buffer")
    assert level == "proven", guards


def test_what_an_object_in_a_module_keeps_is_not_unpacked_and_copied_in_each_call(
    folder: Path,
) -> None:
    program = SCALED.replace("SHIFT", "self.packed.unpack(x.dtype)").replace(
        "self.direction = torch.ones(2)", "self.packed = Packed()"
    )
    program = program.replace(
        "class Steered",
        "class Packed:\n    def __init__(self):\n        self.codes = torch.ones(2, dtype=torch.int8)\n\n"
        "    def unpack(self, dtype):\n        return self.codes.to(dtype) * 2\n\n\nclass Steered",
    )
    used = ("unpack(x.dtype)", "unpack(x.dtype).to(x.device)")
    level, guards = proof(folder, program, used, kind="move-tensor-at-line")
    assert guards["copied"] is False
    assert level == "same-numbers"
    made = ("torch.ones(2, dtype=torch.int8)", 'torch.ones(2, dtype=torch.int8, device="cuda")')
    level, guards = proof(folder, program, made, kind="create-on-device")
    assert "copied" not in guards


def test_rows_that_are_picked_from_a_table_of_the_host_may_be_copied(folder: Path) -> None:
    program = SCALED.replace("SHIFT", "self.rows[at]")
    picked = ("+ self.rows[at]", "+ self.rows[at].to(x.device)")
    level, guards = proof(folder, program, picked, kind="move-tensor-at-line")
    assert level == "proven", guards


def test_of_a_run_that_was_cut_short_nobody_knows_what_ran() -> None:
    patches = {"train.py": Patch("def run():\n    go(1)\n", "def run():\n    go(2)\n")}
    never = [Unexercised("train.py", range(1, 3), "run (train.py:1)")]
    for status, holds in ((0, False), (TOO_LONG, None)):
        (found,) = guards_of_run(exercised, Ran(status), patches=patches, unexercised=never)
        assert found.holds is holds
