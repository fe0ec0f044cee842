"""Patches that nothing but themselves can be compared with."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from repair.proofs import proof

from diagnose.repair.model import Candidate, Failure, Ran
from diagnose.repair.patch import Patch
from diagnose.repair.syntax import tree_of
from diagnose.repair.verification.reference import becomes_parameter, draws_otherwise, drops_refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


#: A library whose model refuses to be moved, as one that was dispatched does.
LIBRARY = """\
from torch import nn


class Fixed(nn.Linear):
    def to(self, *args, **kwargs):
        raise RuntimeError("You can't move a model that has some modules offloaded to cpu or disk.")
"""
REFUSING = """\
import sys
import torch
sys.path.insert(0, "LIBRARIES")
from fixlib import Fixed

model = Fixed(4, 3, device="cuda")
model.to("cuda")
x = torch.ones(2, 4).cuda()
print(model(x).shape)
"""


def test_a_move_that_is_refused_may_go(folder: Path) -> None:
    packages = folder.parent / "site-packages"
    packages.mkdir()
    (packages / "fixlib.py").write_text(LIBRARY)
    program = REFUSING.replace("LIBRARIES", str(packages))
    level, guards = proof(folder, program, ('model.to("cuda")\n', ""), kind="no-to-on-quantized")
    assert level == "proven", guards
    both = ('model.to("cuda")\n', ""), ("ones(2, 4)", "zeros(2, 4)")
    assert proof(folder, program, *both, kind="no-to-on-quantized")[0] == "runs"


@pytest.mark.parametrize(
    ("line", "goes"),
    [
        ("model.to(device)", True),
        ("model = model.to(device)", True),
        ("self.model.cuda()", True),
        ("other = model.to(device)", False),
        ("make().to(device)", False),
        ("model.train()", False),
    ],
)
def test_only_a_move_may_go(line: str, goes: bool) -> None:
    before = f"a = 1\n{line}\nb = 2\n"
    ran = Ran(1, failure=Failure("RuntimeError: no", "train.py:2", "", placement=True))
    assert drops_refused({"train.py": Patch(before, "a = 1\nb = 2\n")}, ran) is goes
    elsewhere = ran._replace(failure=Failure("RuntimeError: no", "train.py:3", "", placement=True))
    assert not drops_refused({"train.py": Patch(before, "a = 1\nb = 2\n")}, elsewhere)
    assert not drops_refused({"train.py": Patch(before, "a = 1\nc = 1\nb = 2\n")}, ran)


#: A loader that draws the order of its rows, where all is made on a GPU.
DRAWING = """\
import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
torch.set_default_device("cuda")
rows = torch.arange(8.0)
weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
for batch in DataLoader(rows, batch_size=2, shuffle=True):
    loss = (batch * weight).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def test_who_is_named_to_draw_draws_another_order(folder: Path) -> None:
    named = ("shuffle=True", 'shuffle=True, generator=torch.Generator(device="cuda")')
    cause = "generator-device"
    level, guards = proof(folder, DRAWING, named, kind="generator-on-device", cause=cause)
    assert level == "proven", guards
    orderly = ("shuffle=True", "shuffle=False")
    level, guards = proof(folder, DRAWING, orderly, kind="generator-on-device", cause=cause)
    assert guards["output"] is False


def test_a_patch_that_does_more_is_compared_with_the_program() -> None:
    edit = Candidate("generator-device", "", "generator-on-device", "", "train.py", 1, "")
    before, after = "x = drawn(3)\n", "x = drawn(3, generator=g)\n"
    assert draws_otherwise({"train.py": Patch(before, after)}, [edit])
    assert not draws_otherwise({"train.py": Patch(before, after.replace("3", "4"))}, [edit])
    assert not draws_otherwise({"train.py": Patch(after, before)}, [edit])
    assert not draws_otherwise({"train.py": Patch(before, after)}, [edit._replace(cause="other")])
    # The tree that all guards share is left as it is.
    assert ast.unparse(tree_of(after)) == after.strip()


@pytest.mark.parametrize(
    ("new", "goes"),
    [
        ("self.g = nn.Parameter(0.1 * (x - y))", True),
        ("self.g = nn.Parameter(0.1 * (x + y))", False),
        ("self.register_buffer('g', 0.1 * nn.Parameter(x - y))", False),
    ],
)
def test_what_was_computed_of_a_parameter_may_become_one(new: str, goes: bool) -> None:
    error = "RuntimeError: Trying to backward through the graph a second time (or directly access)"
    ran = Ran(1, failure=Failure(error, "train.py:9", "", placement=False))
    before = "self.g = 0.1 * nn.Parameter(x - y)\n"
    assert becomes_parameter({"train.py": Patch(before, f"{new}\n")}, ran) is goes
    other = ran._replace(failure=Failure("RuntimeError: no", "train.py:9", "", placement=False))
    assert not becomes_parameter({"train.py": Patch(before, f"{new}\n")}, other)


@pytest.mark.parametrize(
    ("after", "goes"),
    [("kept = model", True), ("kept = model.half()", False), ("kept = model.to(device)", False)],
)
def test_a_refused_move_in_an_assignment_may_go(after: str, goes: bool) -> None:
    before = "x = 1\nkept = model.to(device)\n"
    refused = Ran(1, failure=Failure("ValueError: no", "a.py:2", "", placement=True))
    text = before.replace("kept = model.to(device)", after)
    assert (before != text and drops_refused({"a.py": Patch(before, text)}, refused)) is goes
