"""What the text of a patch tells, read with what stands around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.guards import told_by
from repair.proofs import proof

from diagnose.repair.validation.host_intent import hosted
from diagnose.repair.validation.patch_context import back, chosen, parts, undone


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


#: Predictions are brought to the cpu, and compared with labels that are on a GPU.
COMPARED = """\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(4, 3).to(device)
x, y = torch.ones(5, 4).to(device), torch.zeros(5).long().to(device)
found = model(x).argmax(1)
found = found.cpu()
print((found == y).sum().item())
"""


def test_what_was_just_brought_to_the_cpu_is_not_moved_back(folder: Path) -> None:
    again = ("found == y", "found.to(y.device) == y")
    level, guards = proof(folder, COMPARED, again, kind="move-tensor-at-line")
    assert guards["gives-up"] is False
    assert level == "same-numbers"
    labels = ("found == y", "found == y.cpu()")
    level, guards = proof(
        folder, COMPARED, labels, kind="cpu-before-numpy", cause="host-copy-needed"
    )
    assert level == "proven", guards


@pytest.mark.parametrize(
    ("between", "holds"), [("", False), ("save(x.numpy())\n", True), ("x = x + 1\n", True)]
)
def test_only_the_lines_right_before_are_undone(between: str, holds: bool) -> None:
    before = f"x = x.cpu()\n{between}y = x * scale\n"
    after = before.replace("x * scale", "x.to(scale.device) * scale")
    assert [guard.holds for guard in told_by(undone, before, after)] == ([] if holds else [False])


#: A picture that an option keeps in main memory.
PAINTED = """\
import torch

small = True
device = torch.device("cuda")
canvas_device = "cpu" if small else device
model = torch.nn.Linear(4, 4).to(device)
canvas = torch.zeros(2, 4, device=canvas_device)
canvas[:1] += model(torch.ones(1, 4, device=device)).detach()
print(canvas.sum().item())
"""


def test_what_an_option_keeps_on_the_host_stays_there(folder: Path) -> None:
    there = ("device=canvas_device", "device=device")
    level, guards = proof(folder, PAINTED, there, kind="create-on-device")
    assert guards["gives-up"] is False
    assert level == "same-numbers"
    down = (".detach()", ".detach().to(canvas_device)")
    level, guards = proof(folder, PAINTED, down, kind="move-tensor-at-line")
    assert level == "proven", guards


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ('store = "cpu" if low else device', False),
        ('store_device = "cpu" if low else device', False),
        ('def keep(self, store_device="cpu"):', False),
        ('store_device = "cuda" if torch.cuda.is_available() else "cpu"', True),
    ],
)
def test_a_device_is_chosen_where_the_program_may_take_the_cpu(line: str, holds: bool) -> None:
    name = "store_device" if "store_device" in line else "store"
    before = f"{line}\nrows = torch.zeros(3, device={name})\n"
    after = before.replace(f"device={name}", "device=x.device")
    assert [guard.holds for guard in told_by(chosen, before, after)] == ([] if holds else [False])


#: What all batches gave is kept in an array.
GATHERED = """\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(4, 3).to(device)
total = torch.zeros(3)
for _ in range(2):
    total += model(torch.ones(5, 4, device=device)).detach().sum(0)
print(total.numpy().sum())
"""


def test_what_goes_to_numpy_is_not_made_on_a_gpu_first(folder: Path) -> None:
    round_about = (
        ("torch.zeros(3)", "torch.zeros(3, device=device)"),
        ("total.numpy()", "total.cpu().numpy()"),
    )
    level, guards = proof(folder, GATHERED, *round_about, kind="create-on-device")
    assert guards["back"] is False
    down = (".sum(0)", ".sum(0).cpu()")
    level, guards = proof(folder, GATHERED, down, kind="cpu-before-numpy", cause="host-copy-needed")
    assert level == "proven", guards
    assert not list(told_by(back, "total = 1\n", "total = one.to(device)\n"))


LABELS = """\
def score(logits, labels, weight):
    labels = labels[:, 1:].clone()
    mask = labels != 0
    picked = logits.gather(2, labels.unsqueeze(2))
    return picked * mask * weight
"""


def test_what_is_made_of_one_value_is_moved_with_it() -> None:
    twice = LABELS.replace("labels.unsqueeze(2)", "labels.unsqueeze(2).to(logits.device)")
    apart = twice.replace("mask * weight", "mask * weight.to(logits.device)")
    twice = twice.replace("* mask", "* mask.to(logits.device)")
    assert [guard.id for guard in told_by(parts, LABELS, twice)] == ["scattered"]
    assert not list(told_by(parts, LABELS, apart))
    once = LABELS.replace(".clone()", ".clone().to(logits.device)")
    assert not list(told_by(parts, LABELS, once))


LOOP = """\
for at, batch in enumerate(loader):
    x = batch["x"].to(device)
    first, second = model(x)
    loss = score(first, batch["y"]) + score(second, batch["z"])
"""


def test_parts_of_a_batch_are_not_moved_one_by_one_in_the_loss() -> None:
    each = LOOP.replace('batch["y"]', 'batch["y"].to(device)')
    each = each.replace('batch["z"]', 'batch["z"].to(device)')
    assert [guard.id for guard in told_by(parts, LOOP, each)] == ["scattered"]
    one = LOOP.replace('batch["y"]', 'batch["y"].to(device)')
    assert not list(told_by(parts, LOOP, one))
    above = '    y = batch["y"].to(device)\n    z = batch["z"].to(device)\n    first'
    taken = LOOP.replace('batch["y"]', "y").replace('batch["z"]', "z")
    assert not list(told_by(parts, LOOP, taken.replace("    first", above)))


def test_a_device_by_any_name_may_be_the_hosts_by_choice() -> None:
    before = """\
def infer(x):
    stitch = torch.device("cpu") if cfg.low_mem else device
    return run(x, device=stitch)


out = infer(x)
"""
    after = before.replace("device=stitch", "device=device")
    assert [guard.id for guard in told_by(chosen, before, after)] == ["gives-up"]
    assert hosted(before, "loss = measure(out, y.to(out.device))")
    assert not hosted(before, "loss = measure(out, y.to(x.device))")


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        ("p.detach().cpu()", True),
        ('p.detach().to("cpu")', True),
        ("p.detach().to(home)", True),
        ('torch.zeros(3, device="cpu")', True),
        ("p.detach().to(gpu)", False),
        ("p.detach().clone()", False),
    ],
)
def test_what_goes_over_a_list_that_is_kept_on_the_host_is_kept_there(
    made: str, holds: bool
) -> None:
    before = f"""\
home = torch.device("cpu") if cfg.offload else gpu
self.master = [{made} for p in params]
self.speed = [torch.zeros_like(w) for w in self.master]
for p, (i, v) in zip(self.params, enumerate(self.speed)):
    v.add_(p.grad)
for p, m, v in zip(self.params, self.master, self.speed):
    v.add_(p.grad)
"""
    assert hosted(before, "    v.add_(p.grad.to(v.device))") == holds
    assert hosted(before, "    m.add_(p.grad.to(m.device))") == holds
    assert not hosted(before, "    p.add_(v.to(p.device))")


def test_what_is_appended_part_by_part_is_kept_where_its_parts_are() -> None:
    before = """\
slots = []
for p in params:
    home = torch.device("cpu") if offload else p.device
    master = p.detach().to(home)
    slots.append((master, torch.zeros_like(master)))
for p, (master, m) in zip(params, slots):
    m.add_(p.grad)
"""
    assert hosted(before, "    m.add_(p.grad.to(m.device))")
    assert not hosted(before.replace("cpu", "cuda"), "    m.add_(p.grad.to(m.device))")


def test_copies_of_parameters_may_stay_where_an_offload_keeps_these() -> None:
    assert hosted("", "anchor = {n: p.detach().clone() for n, p in net.named_parameters()}")
    assert not hosted("", "anchor = [p.clone().to(device) for p in net.parameters()]")


def test_parts_that_are_unpacked_are_moved_with_the_whole() -> None:
    before = """\
def score(z, pairs):
    row, col = pairs
    return pick(z, row) * pick(z, col)
"""
    after = before.replace("z, row", "z, row.to(z.device)").replace("z, col", "z, col.to(z.device)")
    assert [guard.id for guard in told_by(parts, before, after)] == ["scattered"]
    whole = before.replace("= pairs", "= pairs.to(z.device)")
    assert not list(told_by(parts, before, whole))
