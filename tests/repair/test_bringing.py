"""Programs that are all on the cpu, and a kernel or a check of their own that refuses that."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from repair.proposals import added, proposed, repaired

from diagnose.hooks.introspection import device_of
from diagnose.repair.runs.check_stubs import claiming
from diagnose.simulation import simulated_gpus

#: A check whose sentence nobody knows: only the question that it asks tells what it is about.
OWN_CHECK = """\
import torch
from torch import nn


def fused_scale(x, weight):
    if not x.is_cuda or not weight.is_cuda:
        raise ValueError("fused_scale: both operands have to live on the card")
    return x * weight


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(fused_scale(x, self.weight))


model = Scaled()
batch = torch.randn(8, 4)
print(f"loss {model(batch).square().mean().item():.4f}")
"""
#: One word decides for the model and for what it is given.
DECIDED = """\
import argparse

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.angle = nn.Parameter(torch.rand(width))

    def forward(self, x):
        assert x.device.type == "cuda", "kernels of this layer need a GPU"
        return x * self.angle.cos()


parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
args = parser.parse_args()
model = nn.Sequential(nn.Linear(4, 6), Rotary(6)).to(args.device)
with torch.no_grad():
    print(model(torch.randn(2, 4, device=args.device)).sum().item())
"""
#: What is given is made in the call; the kernel is one whose questions are known.
EXTENSION = """\
import torch
from pointnet2_ops import _ext
from torch import nn


class Grouper(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Linear(3, 8)

    def forward(self, points):
        chosen = _ext.furthest_point_sampling(points, 4).long()
        return self.embedding(points.gather(1, chosen[..., None].expand(-1, -1, 3)))


grouper = Grouper()
print(grouper(torch.rand(2, 16, 3)).sum().item())
"""
#: Two tensors that are apart, and a check of the program's own that says so.
APART = """\
import torch
from torch import nn


class Matcher(nn.Module):
    def forward(self, queries, keys):
        if queries.device != keys.device:
            raise RuntimeError("queries and keys live in two places")
        return queries @ keys.T


device = torch.device("cuda")
encoder = nn.Linear(4, 6).to(device)
keys = torch.randn(5, 6)
print(Matcher()(encoder(torch.randn(3, 4, device=device)), keys).sum().item())
"""
#: A function that is given a model computes with its weights.
PACKED = """\
import torch
from torch import nn


def packed(weight):
    if not weight.is_cuda:
        raise RuntimeError("packed: this kernel takes weights that are on the card")
    return weight.sign()


def shrink(net):
    for layer in net:
        layer.weight.data = packed(layer.weight.data)


net = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2))
shrink(net)
net.cuda()
print(net(torch.randn(3, 4).cuda()).sum().item())
"""
#: A copy for the cpu is checked there, where its kernel is not.
CHECKED_ELSEWHERE = """\
import copy

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(5))

    def forward(self, x):
        if not x.is_cuda:
            raise ValueError("this kernel reads memory of the card only")
        return x * self.scale


def check(model, device):
    with torch.no_grad():
        return model(torch.ones(3, 4).to(device)).sum().item()


device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4, 5), Scale()).to(device)
before = check(net, device)
best = copy.deepcopy(net).cpu()
after = check(best, "cpu")
print(f"{after - before:.4f}")
"""


def test_a_model_that_a_function_computes_with_goes_to_the_gpu_before(tmp_path: Path) -> None:
    row = 'net = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2)).to("cuda")'
    assert (row,) in proposed(tmp_path, PACKED)


def test_what_is_brought_to_the_gpu_may_meet_the_rest_earlier(tmp_path: Path) -> None:
    """Though much has run on a GPU before."""
    outcome, _, diff = repaired(tmp_path, CHECKED_ELSEWHERE)
    assert outcome == "repaired"
    assert added(diff) == ('after = check(best.to(device), "cuda")',)


def test_a_model_goes_to_the_gpu_together_with_what_it_is_given(tmp_path: Path) -> None:
    outcome, level, diff = repaired(tmp_path, OWN_CHECK)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ('model = Scaled().to("cuda")', 'batch = torch.randn(8, 4).to("cuda")')


def test_the_word_that_decides_for_both_is_changed_first(tmp_path: Path) -> None:
    assert proposed(tmp_path, DECIDED)[0] == ('parser.add_argument("--device", default="cuda")',)


@pytest.mark.parametrize(
    "kept",
    ["torch.load(path, map_location='cpu')", "'cuda' if torch.cuda.is_available() else 'cpu'"],
)
def test_a_cpu_that_is_meant_stays(tmp_path: Path, kept: str) -> None:
    program = EXTENSION.replace(
        "import torch\n", f"import torch\n\nkept = lambda path: {kept}\n", 1
    )
    assert not any("kept" in row for rows in proposed(tmp_path, program) for row in rows)


def test_what_is_made_in_the_call_goes_along(tmp_path: Path) -> None:
    assert (
        'grouper = Grouper().to("cuda")',
        'print(grouper(torch.rand(2, 16, 3).to("cuda")).sum().item())',
    ) in proposed(tmp_path, EXTENSION)


def test_a_check_of_two_tensors_is_mended_where_one_was_made(tmp_path: Path) -> None:
    found = proposed(tmp_path, APART)
    assert ("keys = torch.randn(5, 6, device=device)",) in found
    assert not any("queries.device" in row and "!=" in row for rows in found for row in rows)


def test_only_the_program_is_told_that_its_tensors_are_on_a_gpu() -> None:
    with simulated_gpus(2):
        here, there = torch.ones(1), torch.ones(1, device="cuda:1")
        with claiming():
            assert (here.is_cuda, here.is_cpu, here.get_device()) == (True, False, 0)
            assert (here.device, there.device) == (torch.device("cuda:0"), torch.device("cuda:1"))
            assert device_of(here) == "cpu"
        assert (here.is_cuda, here.get_device(), str(here.device)) == (False, -1, "cpu")
