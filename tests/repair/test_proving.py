"""Patches that run and are wrong, each in another way, and the guard that sees it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from forked import printed
from repair.guards import guards_of_run, in_english, told_by
from repair.proofs import proof

from diagnose.repair.comparison import diff_of
from diagnose.repair.model import Candidate, Guard, Proof, Ran, said
from diagnose.repair.validation.case import Case
from diagnose.repair.validation.device_names import literal
from diagnose.repair.validation.differential import homes
from diagnose.repair.validation.patch_edits import stopgap, written_down
from diagnose.repair.verification.levels import level_of, settled
from diagnose.repair.workspace import Workspace

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


def test_a_move_where_a_value_is_used_stays_a_stopgap_though_nothing_better_is_found() -> None:
    def level(kind: str, *, at_use: bool) -> tuple[str, bool | None]:
        edit = Candidate("offloaded-to-cpu", "", kind, "", "train.py", 3, "", at_use)
        workspace = cast("Workspace", SimpleNamespace(text=lambda _: ""))
        case = Case(workspace, {}, [edit], Ran(0), Ran(0))
        guards = (Guard("output", True, said("output")), *stopgap(case))
        found = settled(Proof(level_of(guards), guards))
        return found.level, "nothing better" in in_english(found.guards[1]).sentence

    assert level("move-tensor-at-line", at_use=True) == ("same-numbers", True)
    assert level("use-like-device-of-other", at_use=True) == ("same-numbers", False)
    assert level("use-like-device-of-other", at_use=False) == ("proven", False)
    assert level("disable-offload", at_use=False) == ("same-numbers", False)


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


#: Weights are loaded, and a buffer that no checkpoint holds is still on meta. Nothing is printed of either.
HALF_LOADED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 2)
        self.register_buffer("shift", torch.ones(2), persistent=False)

    def forward(self, x):
        return self.last(x) + self.shift


def main():
    weights = Net().state_dict()
    with torch.device("meta"):
        net = Net()
    net.load_state_dict(weights, assign=True)
    net.to("cuda")
    net(torch.ones(3, 4, device="cuda"))
    print("ok")


main()
"""


def test_what_was_loaded_is_not_emptied(folder: Path) -> None:
    edit = ('net.to("cuda")', 'net.to_empty(device="cuda")')
    level, guards = proof(folder, HALF_LOADED, edit, kind="materialize-meta")
    assert guards["output"] is True
    assert guards["hollow"] is False
    assert level == "same-numbers"


SHIFTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 2)
        self.shift = torch.ones(2)

    def forward(self, x):
        return self.last(x) + self.shift


net = Net().to("cuda")
net(torch.ones(3, 4, device="cuda"))
print("ok")
"""


@pytest.mark.parametrize(("more", "holds"), [("", False), (", persistent=False", None)])
def test_a_checkpoint_of_before_still_loads(folder: Path, more: str, holds: bool | None) -> None:
    made = f'self.register_buffer("shift", torch.ones(2){more})'
    level, guards = proof(
        folder, SHIFTED, ("self.shift = torch.ones(2)", made), kind="register-buffer"
    )
    assert guards.get("state") is holds
    assert (level == "proven") is (holds is None)


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


#: Blocks wait on the cpu until they are called; another forward calls their layers instead.
SWAPS = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.to(x.device)
        out = self.linear(x)
        self.to("cpu")
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block.linear(x)
        return x


def main():
    torch.manual_seed(1)
    net = Net()
    net.blocks[0].to("cuda")
    print(net(torch.ones(2, 4, device="cuda")).sum().item())


main()
"""


def test_layers_that_wait_on_the_cpu_are_not_all_kept_on_the_gpu(folder: Path) -> None:
    level, guards = proof(folder, SWAPS, ("net = Net()", 'net = Net().to("cuda")'))
    assert guards["output"] is True
    assert guards["put-away"] is False
    assert level == "same-numbers"


def test_layers_that_are_brought_where_they_are_used_go_on_waiting(folder: Path) -> None:
    used = ("x = block.linear(x)", 'x = block.to(x.device).linear(x); block.to("cpu")')
    _, guards = proof(folder, SWAPS, used, kind="move-module")
    assert guards["output"] is True
    assert "put-away" not in guards


def test_a_model_that_is_put_away_to_be_saved_may_be_moved_where_it_is_built(folder: Path) -> None:
    program = SWAPS.replace('        self.to("cpu")\n', "").replace(
        "\n\nmain()", '\n    net.to("cpu")\n    torch.save(net.state_dict(), "net.pt")\n\n\nmain()'
    )
    level, guards = proof(folder, program, ("net = Net()", 'net = Net().to("cuda")'))
    assert level == "proven", guards


#: No optimizer here: only the gradients are asked for, and the model is gone when the program ends.
LISTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.layers[0](x))


def main():
    torch.manual_seed(1)
    model = Net().cuda()
    print(model(torch.randn(8, 4, device="cuda")).pow(2).mean().item())


main()
"""


def test_layers_of_a_plain_list_are_not_only_moved(folder: Path) -> None:
    level, guards = proof(folder, LISTED, ("[nn.Linear(4, 4)]", "[nn.Linear(4, 4).cuda()]"))
    assert guards["output"] is True
    assert guards["hidden"] is False
    assert level == "same-numbers"
    registered = ("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])")
    level, guards = proof(folder, LISTED, registered, kind="register-module")
    assert level == "proven", guards


def test_a_model_that_is_gone_at_the_end_had_its_home_too(folder: Path) -> None:
    program = LISTED.replace("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])").replace(
        'torch.randn(8, 4, device="cuda")', "torch.randn(8, 4)"
    )
    level, guards = proof(folder, program, ("Net().cuda()", "Net()"))
    assert guards["homes"] is False
    assert level == "same-numbers"


#: The model is on the second GPU, what its loss is compared with is made on the first.
OTHER_GPU = """\
import torch
from torch import nn

torch.manual_seed(1)
device = torch.device("cuda", torch.cuda.device_count() - 1)
model = nn.Linear(4, 3).to(device)
for _ in range(3):
    target = torch.zeros(8, 3, device="cuda:0")
    out = model(torch.randn(8, 4, device=device))
    print((out - target).abs().mean().item())
"""


def test_what_is_made_on_a_gpu_without_layers_is_not_carried_over_each_time(folder: Path) -> None:
    level, guards = proof(
        folder, OTHER_GPU, ("out - target", "out - target.to(out.device)"), kind="move-input"
    )
    assert guards["output"] is True
    assert guards["across"] is False
    assert level == "same-numbers"
    made = ('device="cuda:0"', "device=device")
    level, guards = proof(folder, OTHER_GPU, made, kind="create-on-device")
    assert "across" not in guards
    assert level == "proven", guards


def test_layers_of_a_split_model_meet_by_moves_between_gpus(folder: Path) -> None:
    program = OTHER_GPU.replace(
        'target = torch.zeros(8, 3, device="cuda:0")',
        'target = first(torch.zeros(8, 3, device="cuda:0"))',
    ).replace("for _", 'first = nn.Linear(3, 3).to("cuda:0")\nfor _')
    level, guards = proof(
        folder, program, ("out - target", "out - target.to(out.device)"), kind="move-tensor-at-line"
    )
    assert "across" not in guards
    assert level == "proven", guards


#: A model that puts what it gives into the dict that it was given.
FILLS = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(3, 2)

    def forward(self, features):
        features["found"] = self.low(features["x"])
        return features


torch.manual_seed(1)
net = Encoder().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net({"x": torch.ones(4, 3)})["found"].square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def test_a_second_call_leaves_the_results_of_the_first(folder: Path) -> None:
    edit = ("torch.ones(4, 3)", 'torch.ones(4, 3, device="cuda")')
    level, guards = proof(folder, FILLS, edit, kind="create-on-device")
    assert guards["again"] is True
    assert level == "proven", guards


#: What replicas gave, each on its GPU, is collected by a hook.
TAPPED = """\
import torch
from torch import nn

torch.manual_seed(1)
given = []
net = nn.Linear(3, 2).cuda()
net.register_forward_hook(lambda module, inputs, output: given.append(output))
many = nn.DataParallel(net, device_ids=[0, 1])
shift = torch.ones(2, device="cuda:0")
for _ in range(2):
    given.clear()
    out = many(torch.ones(4, 3).cuda())
    print(torch.cat(given).mean().item(), (out + shift).mean().item())
"""


def test_what_replicas_gave_is_brought_together(folder: Path) -> None:
    joined = ("cat(given)", "cat([one.to(given[0].device) for one in given])")
    level, guards = proof(folder, TAPPED, joined, kind="move-tensor-at-line")
    assert "across" not in guards and "copied" not in guards
    assert level == "proven", guards


#: A table of the whole program, made once, on the GPU of the replica that came first.
ONE_TABLE = """import torch
from torch import nn

torch.manual_seed(1)
tables = {}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(3, 3)

    def forward(self, x):
        x = self.low(x)
        if "scale" not in tables:
            tables["scale"] = torch.arange(3.0, device=x.device)
        return x * tables["scale"]


net = nn.DataParallel(Net().cuda(), device_ids=[0, 1])
for _ in range(2):
    print(net(torch.ones(4, 3).cuda()).mean().item())
"""


def test_no_replica_computes_on_the_gpu_of_another(folder: Path) -> None:
    away = ('x * tables["scale"]', 'x.to(tables["scale"].device) * tables["scale"]')
    level, guards = proof(folder, ONE_TABLE, away, kind="move-tensor-at-line")
    assert guards["carried"] is False
    assert level != "proven"
    renewed = (
        '"scale" not in tables:',
        '"scale" not in tables or tables["scale"].device != x.device:',
    )
    level, guards = proof(folder, ONE_TABLE, renewed, kind="use-like-device-of-other")
    assert guards["on-gpu"] is True, "it is made more often, on GPUs"
    assert level == "proven", guards


#: What the model closes over is made once, and used in each call.
KEPT = """\
import torch
from torch import nn

mean = torch.ones(4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 2)

    def forward(self, x, mask):
        return self.last((x - mean) * mask)


torch.manual_seed(1)
print(Net().cuda()(torch.randn(8, 4, device="cuda"), MASK).sum().item())
"""


def test_one_call_shows_what_each_call_would_copy(folder: Path) -> None:
    program = KEPT.replace("MASK", "torch.ones(8, 4, device='cuda')")
    level, guards = proof(folder, program, ("x - mean", "x - mean.to(x.device)"), kind="move-input")
    assert guards["output"] is True
    assert guards["copied"] is False
    assert level == "same-numbers"


def test_what_a_model_is_given_comes_anew_with_each_call(folder: Path) -> None:
    program = KEPT.replace("MASK", "{'mask': torch.ones(8, 4)}").replace("torch.ones(4)", "0.5")
    program = program.replace("* mask)", '* mask["mask"])')
    moved = ('mask["mask"])', 'mask["mask"].to(x.device))')
    level, guards = proof(folder, program, moved, kind="move-input")
    assert "copied" not in guards
    assert level == "proven", guards


#: What NumPy gets is computed on the GPU.
TO_NUMPY = """\
import numpy as np
import torch

image = torch.linspace(0, 1, 16, device="cuda:0")
edges = (image.roll(1) - image).abs()
print(float(np.asarray(edges).sum()))
"""


def test_only_what_numpy_gets_goes_to_the_cpu(folder: Path) -> None:
    early = ('device="cuda:0")', 'device="cuda:0").cpu()')
    level, guards = proof(folder, TO_NUMPY, early, kind="cpu-before-numpy")
    assert guards["on-gpu"] is False
    assert level == "same-numbers"
    late = ("np.asarray(edges)", "np.asarray(edges.cpu())")
    level, guards = proof(folder, TO_NUMPY, late, kind="cpu-before-numpy")
    assert level == "proven", guards


@pytest.mark.parametrize(
    ("before", "after", "guard"),
    [
        ("x = torch.ones(3, device=self.device)", 'x = torch.ones(3, device="cuda:0")', "literal"),
        ('x = torch.ones(3, device="cuda:0")', 'x = torch.ones(3, device="cuda:1")', "numbered"),
        ("x = torch.ones(3)", 'x = torch.ones(3, device="cuda:0")', None),
        ("x = torch.ones(3).to(device)", "x = torch.ones(3, device=y.device)", None),
        ('x = x.to(device)\ny = "cuda:1"', 'x = x.to("cuda:1")\ny = "cuda:1"', "literal"),
        ('x = x.to("cuda:0")\ny = "cuda:1"', 'x = x.to("cuda:1")\ny = "cuda:1"', None),
        ("place = entry(net)", 'place = "cuda:0"', "literal"),
        ('place = "cpu"', 'place = "cuda:0"', None),
    ],
)
def test_an_edit_writes_no_gpu_down_that_the_program_has_a_name_for(
    before: str, after: str, guard: str | None
) -> None:
    told = [*told_by(literal, before, after), *told_by(written_down, before, after)]
    assert [one.id for one in told] == ([guard] if guard else [])


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


def added_by(folder: Path, program: str, patch: str, line: int) -> list[str]:
    """The lines that a repair adds which tries a patch first."""
    (folder / "train.py").write_text(program)
    rows = printed(folder, "search", patch=patch, line=line).splitlines()
    return [row for row in rows if row[:1] == "+" and row[:3] != "+++"]


def test_an_edit_that_is_not_needed_in_the_end_goes(folder: Path) -> None:
    added = added_by(folder, TABLE, FIRST, 8)
    assert added == ["+table = torch.arange(4.0, device=x.device)"]


HALVES = """\
import torch

x = torch.ones(4, device="cuda")
table = torch.arange(4.0)

other = torch.ones(4)

centers = table * 2

print((centers + x).sum().item())

print((other + table).sum().item())
"""
#: All that it is made of goes to the GPU then, and what that meets.
WHOLE = """\
--- a/train.py
+++ b/train.py
@@ -4 +4 @@
-table = torch.arange(4.0)
+table = torch.arange(4.0, device=x.device)
"""


def test_one_edit_goes_before_several(folder: Path) -> None:
    (added,) = added_by(folder, HALVES, WHOLE, 4)
    assert added.startswith("+centers = ")


#: Two functions of a program whose device is written once; the second knows no device.
TWICE = """\
import torch

DEVICE = HERE


def scale(x):


    return x * torch.ones(4)


print(scale(torch.arange(4.0, device=DEVICE)).sum().item())
"""


def test_an_edit_follows_the_program_to_another_gpu(folder: Path) -> None:
    program = TWICE.replace("HERE", '"cuda:0"')
    made = ("torch.ones(4)", 'torch.ones(4, device="cuda:0")')
    level, guards = proof(folder, program, made, kind="create-on-device")
    assert guards["other-gpu"] is False
    assert level == "same-numbers"
    level, guards = proof(
        folder, program.replace('"cuda:0"', '"cuda"'), made, kind="create-on-device"
    )
    assert guards["other-gpu"] is False


#: It writes down what the program decides.
LITERAL = """\
--- a/train.py
+++ b/train.py
@@ -9 +9 @@
-    return x * torch.ones(4)
+    return x * torch.ones(4).to("cuda:0")
"""


def test_a_gpu_that_an_edit_writes_down_is_told_as_the_program_tells_it(folder: Path) -> None:
    added = added_by(folder, TWICE.replace("HERE", '"cuda:0"'), LITERAL, 9)
    assert added == ["+    return x * torch.ones(4).to(DEVICE)"]


#: No guard objects to the first GPU here; but the program has a name for its device.
NAMED = """\
import torch
from types import SimpleNamespace

opts = SimpleNamespace(device=torch.device("cuda", 0))


def scale(opts, x):

    return x * torch.ones(4)


print(scale(opts, torch.arange(4.0, device=opts.device)).sum().item())
"""


def test_what_the_program_calls_its_device_is_written_and_no_gpu(folder: Path) -> None:
    added = added_by(folder, NAMED, LITERAL, 9)
    assert added == ["+    return x * torch.ones(4).to(opts.device)"]


#: A batch is moved by a function that passes nested parts by.
NESTED = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name, self.inner = name, nn.Linear(3, 3)

    def forward(self, batch, x):


        return self.inner(x) + batch["more"][self.name]


class First(Layer):
    def forward(self, batch, x):


        return self.inner(x) * batch["more"][self.name]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = First("a"), Layer("b")

    def forward(self, batch):
        return self.two(batch, self.one(batch, batch["x"]))


def brought(batch):
    return {key: one.to("cuda") if torch.is_tensor(one) else one for key, one in batch.items()}


model = Net().to("cuda")
batch = {"x": torch.ones(2, 3), "more": {"a": torch.ones(3), "b": torch.ones(3)}}
print(model(brought(batch)).sum().item())
"""


def test_what_a_model_is_given_is_moved_once(folder: Path) -> None:
    layers = [
        ('+ batch["more"][self.name]', '+ batch["more"][self.name].to(x.device)'),
        ('* batch["more"][self.name]', '* batch["more"][self.name].to(x.device)'),
    ]
    level, guards = proof(folder, NESTED, *layers, kind="move-input")
    assert guards["scattered"] is False
    assert level == "same-numbers"
    before = ('{"a": torch.ones(3), "b": torch.ones(3)}', "MORE")
    made = (
        "model = Net()",
        f"MORE = {before[0].replace('(3)', '(3, device=DEVICE)')}\nmodel = Net()",
    )
    named = ('to("cuda") if', "to(DEVICE) if"), ("class Layer", 'DEVICE = "cuda"\n\n\nclass Layer')
    level, guards = proof(folder, NESTED, made, before, *named, kind="create-on-device")
    assert "scattered" not in guards


#: Nothing calls these models, and nobody holds them at the end.
SENT = """\
import torch
from torch import nn


def prepared(parts, device):
    for part in parts:
        part.to(device)
    return parts


def main():
    parts = prepared([nn.Linear(2, 2), nn.Linear(3, 3)], "cuda:0")
    prepared(parts, "cuda:1")
    scale = torch.ones(2, device="cuda:0")
    print((parts[0].weight.sum(0) * scale).sum().item() > 9)


main()
"""


@pytest.mark.parametrize(
    ("old", "new", "guard"),
    [
        ("        part.to(device)", "        pass", "homes"),
        ('prepared(parts, "cuda:1")', 'prepared(parts, "cuda:0")', "homes"),
        ("sum(0) * scale", "sum(0) * scale.to(parts[0].weight.device)", "across"),
    ],
)
def test_models_stay_where_they_were_sent_though_nothing_calls_them(
    folder: Path, old: str, new: str, guard: str
) -> None:
    edits = [(old, new)]
    if guard == "homes" and "pass" in new:
        edits.append(('ones(2, device="cuda:0")', "ones(2)"))
    level, guards = proof(folder, SENT, *edits)
    assert guards[guard] is False
    assert level == "same-numbers"


#: Weights that stay on the cpu, and go to the GPU one by one.
STREAMED = """\
import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.ones(3, 3)), nn.Parameter(torch.ones(3))

    def forward(self, x):


        return F.linear(x, self.weight.to(x.device)) * self.scale


layer = Layer()
print(layer(torch.ones(2, 3, device="cuda")).sum().item())
"""


def test_weights_that_are_brought_one_by_one_stay_off_the_gpu(folder: Path) -> None:
    level, guards = proof(folder, STREAMED, ("layer = Layer()", 'layer = Layer().to("cuda")'))
    assert guards["put-away"] is False
    assert level == "same-numbers"
    moved = ("* self.scale\n", "* self.scale.to(x.device)\n")
    level, guards = proof(folder, STREAMED, moved, kind="move-tensor-at-line")
    assert guards.get("put-away") is None


def test_a_model_may_go_to_the_gpu_of_the_rank() -> None:
    edit = (".cuda()", ".cuda(local_rank)")
    first, there = (Ran(0, homes={"Linear#1.weight": f"cuda:{gpu}"}) for gpu in (0, 1))
    text = f"model = nn.Linear(3, 3){edit[0]}\n"
    patch = diff_of({"train.py": text}, {"train.py": text.replace(*edit)})
    by_rank = Candidate("rank-device", "", "set-rank-device", "", "train.py", 5, patch)
    assert all(
        guard.holds for guard in guards_of_run(homes, there, [by_rank], wanted=first, text=text)
    )
    parallel = by_rank._replace(cause="dataparallel-home-device")
    assert all(
        guard.holds for guard in guards_of_run(homes, there, [parallel], wanted=first, text=text)
    )
    chosen = guards_of_run(homes, first, [parallel], wanted=there, text=text)
    assert [guard.holds for guard in chosen] == [False]
    written = by_rank._replace(patch=patch.replace(edit[1], '.to("cuda:1")'))
    for other in (written, by_rank._replace(cause="input-not-moved")):
        found = guards_of_run(homes, there, [other], wanted=first, text=text)
        assert [guard.holds for guard in found] == [False]


def test_a_model_that_is_trained_may_leave_its_map_as_a_whole() -> None:
    split = Ran(0, homes={"Net#1.low": "cuda:0", "Net#1.high": "cuda:1"})
    whole = split._replace(homes=dict.fromkeys(split.homes, "cuda:0"))
    edit = Candidate("device-map-under-training", "", "drop-device-map", "", "train.py", 5, "")
    assert all(guard.holds for guard in guards_of_run(homes, whole, [edit], wanted=split))
    swapped = split._replace(homes={"Net#1.low": "cuda:1", "Net#1.high": "cuda:0"})
    found = guards_of_run(homes, swapped, [edit], wanted=split)
    assert [guard.holds for guard in found] == [False]


PLACED = """\
import torch
from torch import nn


class Server:
    def __init__(self, low):
        self.model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        self.place(low)

    def place(self, low):
        self.model.to("cuda")
        if low:
            self.model[1] = self.model[1].cpu()


            print("low")

    def reply(self, x):
        return self.model(x)


print(Server(True).reply(torch.ones(1, 2, device="cuda")).shape)
"""


def test_what_was_put_away_is_not_brought_back_at_once(folder: Path) -> None:
    back = ("            print", '            self.model.to("cuda")\n            print')
    level, guards = proof(folder, PLACED, back, kind="move-module")
    assert guards["put-away"] is False
    assert level == "same-numbers"


def test_layers_in_lists_of_lists_are_not_only_moved(folder: Path) -> None:
    nested = HIDDEN.replace("[nn.Linear(4, 4)]", "[[nn.Linear(4, 4)]]")
    nested = nested.replace("self.layers[0](x)", "self.layers[0][0](x)")
    moved = ("[[nn.Linear(4, 4)]]", "[[nn.Linear(4, 4).cuda()]]")
    _, guards = proof(folder, nested, moved, kind="move-module")
    assert guards["hidden"] is False


def test_a_tensor_of_which_arrays_methods_are_asked_says_itself_what_is_meant(folder: Path) -> None:
    program = """\
import numpy as np
import torch

made = torch.arange(4.0, device="cuda")
scores = made.flip(0)
print(np.asarray(scores).max(), (scores > 1).astype(int).sum())
"""
    array = ("flip(0)", "flip(0).cpu().numpy()")
    level, guards = proof(folder, program, array, kind="cpu-before-numpy")
    assert guards["output"] is True and level == "proven"


def test_what_is_registered_loses_its_gradient_with_the_rest(folder: Path) -> None:
    zeroed = HIDDEN.replace("optimizer.step()", "optimizer.step()\n    optimizer.zero_grad()")
    listed = ("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])")
    _, guards = proof(
        folder, zeroed, listed, kind="register-module", cause="unregistered-submodule"
    )
    assert guards.get("gradients") is not False


STAGES = """\
import torch
from torch import nn


class Staged(nn.Module):
    def __init__(self, devices):
        super().__init__()
        self.last = nn.Linear(3, 3).to(devices[-1])
        self.stages = nn.ModuleList(nn.Linear(3, 3) for _ in devices)
        self.devices = devices
        for stage, device in zip(self.stages, devices):
            stage.to(device)

    def forward(self, x):
        for stage, device in zip(self.stages, self.devices):
            x = stage(x.to(device) if device != self.devices[0] else x)
        return self.last(x)


devices = [torch.device("cuda", 0), torch.device("cuda", 1)]
net = Staged(devices)
print(net(torch.ones(2, 3, device=next(net.parameters()).device)).sum().item())
"""


def test_another_gpu_for_a_part_is_not_one_for_the_whole(folder: Path) -> None:
    cause = "hardcoded-device"
    whole = ("stage.to(device)", "stage.to(next(self.parameters()).device)")
    level, guards = proof(folder, STAGES, whole, cause=cause)
    assert (level, guards["homes"]) == ("same-numbers", False), guards
    sent = ("device=next(net.parameters()).device", "device=devices[0]")
    level, guards = proof(folder, STAGES, sent, cause=cause)
    assert level == "proven", guards


#: What does not fit stays on the cpu, and one of two calls knows that.
BUDGET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 4)
        self.head = nn.Linear(4, 1)

    def find(self, ids):
        return self.table(ids.to(self.table.weight.device)).to(ids.device)

    def forward(self, ids):
        return self.head(self.find(ids) + self.table(ids))


def place(net):
    for name, part in net.named_children():
        if {asked}:
            part.to("cuda")


torch.manual_seed(1)
net = Net()
place(net)
print(net(torch.arange(3, device="cuda")).sum().item())
"""


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("sum(one.numel() for one in part.parameters()) < 100", False),
        ("isinstance(part, nn.Linear)", None),
    ],
)
def test_what_does_not_fit_into_a_budget_stays_on_the_cpu(
    folder: Path, asked: str, expected: bool | None
) -> None:
    program = BUDGET.format(asked=asked)
    _, guards = proof(folder, program, ("net = Net()", 'net = Net().to("cuda")'))
    assert guards["output"] is True
    assert guards.get("put-away") is expected


@pytest.mark.parametrize("optimizer", ["SGD", "Adagrad", "Adam"])
def test_counters_of_what_is_trained_now_may_be_on_the_cpu(folder: Path, optimizer: str) -> None:
    program = f"""\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = {{name: nn.Embedding(5, 3) for name in ("site", "hour")}}
        self.last = nn.Linear(3, 1)

    def forward(self, ids):
        return self.last(sum(table(ids) for table in self.tables.values()))


torch.manual_seed(0)
net = Net().cuda()
optimizer = torch.optim.{optimizer}(net.parameters(), lr=0.05)
for _ in range(2):
    loss = net(torch.tensor([1, 2], device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{{loss.item():.1f}}")
"""
    made = 'name: nn.Embedding(5, 3) for name in ("site", "hour")'
    level, guards = proof(
        folder,
        program,
        (f"{{{made}}}", f"nn.ModuleDict({{{made}}})"),
        kind="register-module",
        cause="unregistered-submodule",
    )
    assert guards["on-gpu"] is True
    assert level == "proven", guards
