"""What two outputs have to share: all but the names of devices, rounding, and how long something took."""

from __future__ import annotations

import pytest

from diagnose.repair.comparison import difference, same_values
from diagnose.repair.model import Ran

SAME = [
    ("epoch 3 loss 0.31 took 0.52s", "epoch 3 loss 0.31 took 1.9s"),
    ("{'train_runtime': 0.37, 'train_loss': 1.38}", "{'train_runtime': 1.1, 'train_loss': 1.38}"),
    ("{'eval_samples_per_second': 63.7}", "{'eval_samples_per_second': 9.0}"),
    ("elapsed: 0:00:01, 12.5 it/s", "elapsed: 0:00:02, 7 it/s"),
    ("tokens/s: 340.2 (0.12 sec)", "tokens/s: 99 (3 sec)"),
    ("on cuda:0: 2.00001", "on cpu: 2.00002"),
    ("tensor([1.5, 2.0])", "tensor([1.5, 2.0],\n       device='cuda:0')"),
    ("tensor(1.5, grad_fn=<AddBackward0>)", "tensor(1.5, device='cuda:1', grad_fn=<Copy0>)"),
]
OTHER = [
    ("epoch 3 loss 0.31 took 0.52s", "epoch 3 loss 0.42 took 0.52s"),
    ("{'train_runtime': 0.37, 'train_loss': 1.38}", "{'train_runtime': 0.37, 'train_loss': 1.2}"),
    ("timestep 5", "timestep 6"),
    ("5 samples, 7 steps", "5 samples, 8 steps"),
    ("3 s1", "4 s1"),
    ("times 3", "times 4"),
    ("tensor([1.5, 2.0])", "tensor([1.5, 2.5], device='cuda:0')"),
    ("tensor([1.5])", "tensor([1.5], dtype=torch.int8)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_how_long_it_took_and_where_it_ran_is_nothing_that_was_meant(one: str, other: str) -> None:
    assert difference(one, other) is None


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_stands_beside_a_time_is_compared(one: str, other: str) -> None:
    assert difference(one, other) is not None


def test_what_is_registered_may_be_stepped_in_another_order() -> None:
    one = Ran(0, trained=(("3x2", "cuda:0", 1.5), ("4", "cuda:0", -2.0)))
    two = Ran(0, trained=(("4", "cpu", -2.0), ("3x2", "cuda:0", 1.5000001)))
    assert not same_values(one, two)
    assert same_values(one, two, ordered=False)
    other = two._replace(trained=(("4", "cpu", -2.0), ("3x2", "cuda:0", 1.6)))
    assert not same_values(one, other, ordered=False)
