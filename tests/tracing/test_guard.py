"""The guard: silent copies are told or refused, what a line asks for passes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

import diagnose
from diagnose.simulation import simulated_gpus
from diagnose.tracing.guarding import TransferError


@pytest.fixture(autouse=True)
def gpus() -> Iterator[None]:
    with simulated_gpus(2):
        yield


def by_index() -> None:
    torch.zeros(4, device="cuda")[torch.tensor([0, 1])]


def by_mask() -> None:
    torch.zeros(4, device="cuda")[torch.tensor([True, False, True, False])] = 1.0


def by_value() -> None:
    torch.zeros(4, device="cuda")[:2] = torch.ones(2)


def to_the_host() -> None:
    torch.zeros(2)[:] = torch.ones(2, device="cuda:1")


SILENT = {
    by_index: ("__getitem__", "cpu", "cuda:0"),
    by_mask: ("__setitem__", "cpu", "cuda:0"),
    by_value: ("__setitem__", "cpu", "cuda:0"),
    to_the_host: ("__setitem__", "cuda:1", "cpu"),
}


@pytest.mark.parametrize("copy", SILENT)
def test_a_silent_copy_is_refused(copy: Callable[[], None]) -> None:
    function, source, target = SILENT[copy]
    with pytest.raises(TransferError) as caught, diagnose.guard("disallow"):
        copy()
    line = copy.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}: {function} copies a tensor from {source} to {target}" in str(
        caught.value
    )


@pytest.mark.parametrize("copy", SILENT)
def test_or_told_once_a_line(copy: Callable[[], None], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "diagnose.guard"), diagnose.guard():
        copy()
        copy()
    assert len(caplog.messages) == 1


def asked() -> None:
    x = torch.ones(4).to("cuda")
    x.cuda(1).cpu()
    x.copy_(torch.zeros(4))
    torch.tensor([1.0], device="cuda").item()


def constants() -> None:
    x = torch.ones(4, device="cuda")
    x * torch.tensor(2.0)
    x[1] = torch.tensor(3.0)
    x[[0, 2]] = 1.0
    x[torch.tensor(0)]


def training() -> None:
    device = torch.device("cuda")
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
    net.load_state_dict({name: one.cpu() for name, one in net.state_dict().items()})
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        x, y = torch.randn(4, 4).to(device), torch.randint(0, 3, (4,)).to(device)
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        float(loss)


@pytest.mark.parametrize("fine", [asked, constants, training])
def test_what_a_line_asks_for_passes(fine: Callable[[], None]) -> None:
    with diagnose.guard("disallow"):
        fine()


def test_only_copies_to_a_device() -> None:
    with diagnose.guard("disallow", to="cuda:1"):
        by_index()
    with pytest.raises(TransferError), diagnose.guard("disallow", to="cuda"):
        by_index()


def test_reading_a_value_to_decide_is_a_copy_to_the_host() -> None:
    x = torch.ones(2, device="cuda")
    with diagnose.guard("disallow"):
        assert x.any()
    with (
        pytest.raises(TransferError, match=r"from cuda:0 to cpu"),
        diagnose.guard("disallow", to="cpu"),
    ):
        assert x.any()


def test_allowed_functions_pass() -> None:
    with diagnose.guard("disallow", allow=["__setitem__"]):
        by_value()
        with pytest.raises(TransferError):
            by_index()


def test_nothing_is_guarded_outside() -> None:
    with diagnose.guard("disallow"):
        pass
    by_index()


def test_it_holds_for_the_task_that_enters_it() -> None:
    async def guarded(turn: asyncio.Event, back: asyncio.Event) -> None:
        with diagnose.guard("disallow"):
            turn.set()
            await back.wait()
            with pytest.raises(TransferError):
                by_index()
            with pytest.raises(TransferError):
                await asyncio.create_task(below())

    async def below() -> None:
        by_index()

    async def run() -> None:
        turn, back = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(guarded(turn, back))
        await turn.wait()
        by_index()  # the guard stands, and is the other task's
        back.set()
        await task

    asyncio.run(run())


def test_it_does_not_hold_for_other_threads() -> None:
    with diagnose.guard("disallow"), ThreadPoolExecutor(1) as pool:
        pool.submit(by_index).result()
        with pytest.raises(TransferError):
            by_index()


def test_another_action_is_refused() -> None:
    with pytest.raises(ValueError, match="'refuse'"), diagnose.guard("refuse"):  # type: ignore[arg-type]
        pass
