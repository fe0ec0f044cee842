"""Edits whose writes are lost, and those whose are not."""

from __future__ import annotations

import pytest

from diagnose.repair.patch import Patch
from diagnose.repair.validation.lost_writes import loses_a_write

LOST = [
    ("state.lerp_(grad, 0.1)", "state.to(grad.device).lerp_(grad, 0.1)"),
    ("scale[:, 0] = value", "scale.to(value.device)[:, 0] = value"),
    ("total += value", "total.to(value.device)[0] += value"),
    ("torch.nn.init.normal_(weight)", 'torch.nn.init.normal_(weight.to("cuda"))'),
    ("distributed.all_reduce(loss)", "distributed.all_reduce(loss.cuda())"),
    ("torch.add(a, b, out=c)", "torch.add(a, b, out=c.to(a.device))"),
    ("state.data.copy_(value)", "state.to(value.device).data.copy_(value)"),
    ("m.mul_(0.9).add_(g)", "m.to(g.device).mul_(0.9).add_(g)"),
    ("m.mul_(0.9)[0].add_(g)", "m.to(g.device).mul_(0.9)[0].add_(g)"),
]
KEPT = [
    ("layer.weight.data.copy_(value)", "layer.to(device).weight.data.copy_(value)"),
    ("state.lerp_(grad, 0.1)", "state.lerp_(grad.to(state.device), 0.1)"),
    ("scale[:, 0] = value", "scale[:, 0] = value.to(scale.device)"),
    ("mask = x.fill_(1)", 'mask = x.to("cuda").fill_(1)'),
    ("losses.append(loss)", "losses.append(loss.cpu())"),
    ("m.mul_(0.9).add_(g)", "m.mul_(0.9).add_(g.to(m.device))"),
    ("m.mul_(0.9).add_(g)", "m = m.to(g.device).mul_(0.9).add_(g)"),
    ("state = state + 1", 'state = state.to("cuda") + 1'),
]


@pytest.mark.parametrize(("before", "after"), LOST)
def test_a_write_into_a_copy_is_lost(before: str, after: str) -> None:
    assert loses_a_write(Patch(f"import torch\n{before}\n", f"import torch\n{after}\n"))


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_a_write_of_a_copy_is_kept(before: str, after: str) -> None:
    assert not loses_a_write(Patch(f"import torch\n{before}\n", f"import torch\n{after}\n"))


def test_only_edited_lines_count() -> None:
    text = 'x.to("cuda").zero_()\ny = 1\n'
    assert not loses_a_write(Patch(text, text.replace("y = 1", "y = 2")))
