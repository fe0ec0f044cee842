"""What the text of a patch tells, read with what stands around it."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.host_intent import hosted
from diagnose.repair.validation.patch_context import parts

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
