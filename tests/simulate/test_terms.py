"""Machines that are otherwise than real ones: devices that nobody compares, one stream of random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import nn

from diagnose.simulation import Terms, simulated_gpus

MIXED: list[Callable[[], object]] = [
    lambda: torch.ones(3) + torch.ones(3, device="cuda"),
    lambda: nn.Linear(3, 3).cuda()(torch.ones(2, 3)),
    lambda: nn.Conv2d(1, 1, 2).cuda()(torch.ones(1, 1, 3, 3)),
    lambda: nn.LSTM(3, 3).cuda()(torch.ones(2, 1, 3)),
    lambda: nn.functional.cross_entropy(
        torch.ones(2, 3, device="cuda"), torch.zeros(2, dtype=torch.long)
    ),
    lambda: nn.Embedding(3, 3).cuda()(torch.tensor([0, 1])),
    lambda: torch.ones(3, device="cuda").numpy(),
    lambda: torch.ones(3, device="cuda", requires_grad=True).numpy(),
    lambda: torch.rand(3, generator=torch.Generator(), device="cuda"),
    lambda: torch.meshgrid(torch.ones(2), torch.ones(2, device="cuda"), indexing="ij"),
    lambda: torch.optim.Adam([nn.Parameter(torch.ones(2, device="cuda"))]),
    lambda: nn.DataParallel(nn.Linear(3, 3))(torch.ones(4, 3)),
]


@pytest.mark.parametrize("mixed", MIXED)
def test_nothing_is_compared(mixed: Callable[[], object]) -> None:
    with simulated_gpus(2, terms=Terms(checked=False)):
        mixed()


def test_what_is_not_compared_has_the_cpus_values_and_a_device() -> None:
    torch.manual_seed(0)
    net, data = nn.Linear(3, 3), torch.ones(2, 3)
    wanted = net(data).sum().item()
    with simulated_gpus(2, terms=Terms(checked=False)):
        got = net.cuda(1)(data)
        assert str(got.device) == "cuda:1"
        assert got.sum().item() == pytest.approx(wanted)
        got.sum().backward()
        assert net.weight.grad is not None
        assert str(net.weight.grad.device) == "cuda:1"


def test_one_stream_gives_the_same_numbers_wherever_they_are_made() -> None:
    drawn = []
    for device in ("cpu", "cuda:0", "cuda:1"):
        with simulated_gpus(2, terms=Terms(one_stream=True)):
            torch.manual_seed(3)
            drawn.append([torch.rand(2, device=device).cpu().tolist(), torch.rand(1).item()])
    assert drawn[0] == drawn[1] == drawn[2]


def test_calls_are_counted_where_they_run() -> None:
    calls: Counter[str] = Counter()
    with simulated_gpus(1, terms=Terms(calls=calls)):
        data = torch.ones(3).cuda()
        calls.clear()
        (data * 2 + 1).relu()
        assert calls == {"cuda": 3}
        data.cpu().exp()
    assert calls == {"cuda": 3, "cpu": 1}


def test_what_autograd_makes_for_what_got_no_gradient_is_no_work_of_the_cpu() -> None:
    """The backward of ``DataParallel`` has zeros for the layers that no replica has used."""
    calls: Counter[str] = Counter()
    with simulated_gpus(2, terms=Terms(calls=calls)):
        net = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 3), "left": torch.nn.Linear(3, 3)})
        _, second = torch.nn.parallel.replicate(net.to("cuda:0"), [0, 1])
        rows = torch.ones(2, 3, device="cuda:1")
        loss = second["used"](rows).sum()
        calls.clear()
        loss.backward()
    assert calls["cuda"] > 0
    assert calls["cpu"] == 0
