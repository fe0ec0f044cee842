"""The fixes of whole answers, with the program at hand: what is mended beside the stray, and without one."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from parsing.knowledge import torch

from diagnose.casebase.store import Casebase
from diagnose.fixes.codemods import define
from diagnose.pipeline import diagnose
from diagnose.placement.model import Source
from diagnose.scene.settings import setting
from diagnose.sources import Folder, Sources

GPU_AND_CPU = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
)


def mended(
    program: str, failing: str, message: str, folder: Path, casebase: Casebase, cause: str
) -> dict[str, str]:
    """What the patches of a cause make of a program that fails at a line, by the fix's kind."""
    path = folder / "train.py"
    path.write_text(program)
    lines = program.split("\n")
    number = next(n for n, line in enumerate(lines, 1) if failing in line)
    traceback = (
        f'Traceback (most recent call last):\n  File "/home/u/train.py", line {number}, in forward\n'
        f"    {lines[number - 1].strip()}\n{message}\n"
    )
    sources = Sources([Folder(str(folder))], read=None)
    answer = diagnose(traceback, casebase=casebase, sources=sources, top=20)
    found = {}
    for fix in next((one.fixes for one in answer.causes if one.id == cause), ()):
        if fix.patch is not None:
            path.write_text(program)
            run = subprocess.run(["git", "apply", "-"], input=fix.patch.encode(), cwd=folder)
            assert run.returncode == 0, fix.patch
            found.setdefault(fix.kind, path.read_text())
    return found


NORMALIZE = """import torch
from torch import nn

class Normalize(nn.Module):
    def __init__(self, mean):
        super().__init__()
        self.mean = torch.tensor(mean).view(1, 3, 1, 1)
        self.std = torch.ones(3).view(1, 3, 1, 1)
        self.counts = torch.zeros(3)
        self.unused = torch.zeros(3)
        self.kept = torch.zeros(3)
        self.placed = torch.zeros(3, device="cpu")
        self.name = "imagenet"

    def forward(self, x):
        x = (x - self.mean) / self.std
        self.counts.add_(x.mean((0, 2, 3)))
        return x + self.kept.to(x.device) + len(self.placed)

model = Normalize([0.1, 0.2, 0.3]).to("cuda")
print(model(torch.rand(2, 3, 4, 4, device="cuda")))
"""


def test_plain_tensors_beside_an_unregistered_one_are_registered_too(
    tmp_path: Path, casebase: Casebase
) -> None:
    made = mended(
        NORMALIZE,
        "/ self.std",
        f"{GPU_AND_CPU}cuda:0 and cpu!",
        tmp_path,
        casebase,
        "unregistered-tensor",
    )["register-buffer"]
    for name in ("mean", "std", "counts"):
        assert f'self.register_buffer("{name}", torch.' in made, made
    for name in ("unused", "kept", "placed", "name"):
        assert f"self.{name} = " in made, made


BARE = """import torch

def main(rank):
    device = torch.device("cuda", 1)
    model = torch.nn.Linear(2, 2).to(device)
    x = torch.ones(2).cuda()
    w = torch.ones(2).cuda()
    z = torch.ones(2).cuda(1)
    return model(x) * w * z

main(1)
"""


def test_all_moves_to_the_current_device_become_moves_to_the_chosen_one(
    tmp_path: Path, casebase: Casebase
) -> None:
    message = f"{GPU_AND_CPU}cuda:1 and cuda:0!"
    fixes = mended(BARE, "return model(x)", message, tmp_path, casebase, "hardcoded-device")
    made = fixes["use-like-device-of-other"]
    assert made.count("torch.ones(2).to(device)") == 2
    assert "torch.ones(2).cuda(1)" in made


SPLIT = """import torch
from accelerate import dispatch_model, infer_auto_device_map

def load(model, memory):
    split = infer_auto_device_map(model, max_memory=memory)
    return dispatch_model(model, split)

class Block(torch.nn.Module):
    def forward(self, x, residual):
        return x + residual
"""


@pytest.mark.parametrize("calls", [1, 2])
def test_the_call_that_split_a_model_is_edited_if_it_is_the_only_one(
    calls: int, tmp_path: Path, casebase: Casebase
) -> None:
    more = "again = infer_auto_device_map(other, max_memory={})\n" * (calls - 1)
    message = f"{GPU_AND_CPU}cuda:0 and cuda:1!"
    fixes = mended(
        SPLIT + more, "return x + residual", message, tmp_path, casebase, "cross-shard-op"
    )
    wanted = "max_memory=memory, no_split_module_classes=model._no_split_modules)"
    assert any(wanted in made for made in fixes.values()) == (calls == 1)


GENERATOR = """import torch

class Data:
    def __init__(self, device):
        self.rng = torch.Generator(device=device).manual_seed(0)

    def setup(self):
        return torch.randperm(10, generator=self.rng)

Data("cuda").setup()
"""


def test_a_generator_is_made_where_the_message_wants_it(tmp_path: Path, casebase: Casebase) -> None:
    message = "RuntimeError: Expected a 'cpu' device type for generator but found 'cuda'"
    fixes = mended(GENERATOR, "torch.randperm", message, tmp_path, casebase, "generator-device")
    assert 'Data("cpu").setup()' in fixes["generator-on-device"], "the device is told for it alone"
    assert "move-module" not in fixes, "a generator has no .to"


LOOP = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def train(net, loader, criterion):
    for step, (images, labels) in enumerate(loader):
        criterion(net(images), labels).backward()

net = nn.Linear(4, 2).to("cuda")
data = TensorDataset(torch.rand(8, 4), torch.randint(2, (8,)))
train(net, DataLoader(data, batch_size=4), nn.CrossEntropyLoss())
"""


def test_a_batch_that_nothing_moves_is_moved_by_its_loop_to_the_model(
    tmp_path: Path, casebase: Casebase
) -> None:
    message = f"{GPU_AND_CPU}cuda:0 and cpu! (when checking argument for argument mat1)"
    fixes = mended(LOOP, "criterion(net(images)", message, tmp_path, casebase, "input-not-moved")
    for name in ("images", "labels"):
        moved = f"        {name} = {name}.to(next(net.parameters()).device)\n"
        assert moved in fixes["move-input"]


RANKS = """import os
import torch
from torch.nn.parallel import DistributedDataParallel

class Net(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x)

def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    model = DistributedDataParallel(Net(2, 2).cuda(), device_ids=[local_rank])
    return model(torch.rand(2, 2).cuda(local_rank))
"""


def test_the_only_move_to_any_gpu_goes_to_the_rank_s_own() -> None:
    for program, found in ((RANKS, True), (RANKS + "    model.to('cuda')\n", False)):
        source = Source("/home/u/train.py", program.split("\n"), ast.parse(program))
        suspect = setting("set-rank-device", "rank-device", [source])
        assert (suspect is not None) == found
        if suspect is not None:
            edit = define("set-rank-device", suspect, torch=torch())
            assert "Net(2, 2).cuda(local_rank)" in edit.after


OFFLOADED = """import torch
from accelerate import cpu_offload_with_hook
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.tags = nn.Parameter(torch.randn(5, 4))
        self.enter = nn.Linear(4, 4)

    def forward(self, x):
        return self.enter(x)

tagger = Tagger()
tagger, hook = cpu_offload_with_hook(tagger, "cuda")
rows = torch.rand(2, 4, device="cuda")
scores = rows @ tagger.tags.t()
"""


def test_an_offloaded_weight_that_is_read_is_copied_there_if_it_has_values(
    tmp_path: Path, casebase: Casebase
) -> None:
    message = GPU_AND_CPU + "cuda:0 and {}!"
    found, empty = (
        mended(OFFLOADED, "scores =", message.format(one), tmp_path, casebase, "offloaded-to-cpu")
        for one in ("cpu", "meta")
    )
    line = "scores = rows @ tagger.tags.t()"
    assert found["move-tensor-at-line"] == OFFLOADED.replace(line, f"{line}.to(rows.device)")
    assert "move-tensor-at-line" not in empty
