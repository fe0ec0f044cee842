"""What a recorder remembers, for how long, and what it leaves of itself."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import traceback
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, TensorDataset

from diagnose.hooks import explain
from diagnose.kinds import EventKind, Origin
from diagnose.tracing import active, trace
from diagnose.tracing.lives import MOST_EVENTS, Event, Life, Table, extended


def line_of(event: Event) -> str:
    """The function and line of an event's innermost frame."""
    return event.stack[0].code.co_name


def make() -> torch.Tensor:
    return torch.zeros(3)


#: Torch 2.0, with which the recorder works too, cannot swap tensors.
swaps = pytest.mark.skipif(not hasattr(torch.utils, "swap_tensors"), reason="torch before 2.3")


def test_a_tensor_is_born_where_it_is_made() -> None:
    with trace() as recorder:
        life = recorder.tensors.get(make())
    # The temporary is gone, its life was read before.
    assert life is not None
    assert life.maker.value == "factory"
    assert [event.what.value for event in life.events] == ["made"]
    assert line_of(life.events[0]) == "make"
    callers = [line.code.co_name for line in life.events[0].stack]
    assert callers[:2] == ["make", "test_a_tensor_is_born_where_it_is_made"]


def test_what_is_computed_shares_the_life_of_what_it_was_computed_from() -> None:
    with trace() as recorder:
        one = make()
        other = (one.float() * 2).view(1, 3)[0] + 1
        assert recorder.tensors.get(other) is recorder.tensors.get(one)


def test_what_a_layer_gives_belongs_to_it() -> None:
    with trace() as recorder:
        layer = nn.Linear(3, 2)
        life = recorder.tensors.get(layer(make()))
    assert life is not None
    assert (life.maker.value, life.module) == ("output", recorder.modules.get(layer))


def test_a_module_knows_where_it_was_built_put_and_moved() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(2, 2)

    with trace() as recorder:
        net = Net()
        net.to("meta")
        net.head = nn.Linear(2, 2)
        body, head = (recorder.modules.get(one) for one in (net.body, net.head))
        assert body is not None and head is not None
        assert [event.what.value for event in body.events] == ["made", "put", "moved"]
        assert [(event.what.value, event.device) for event in head.events] == [
            ("made", None),
            ("put", "meta"),  # into a module that had been moved there
        ]
        assert (body.name, body.owner) == ("body", recorder.modules.get(net))
        weight = recorder.tensors.get(net.head.weight)
        assert weight is not None
        assert (weight.maker.value, weight.name, weight.module) == ("weight", "weight", head)


def test_a_change_of_type_is_no_move() -> None:
    with trace() as recorder:
        net = nn.Linear(2, 2)
        net.half()
        life = recorder.modules.get(net)
    assert life is not None
    assert [event.what.value for event in life.events] == ["made"]


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_come_from_their_loader(workers: int) -> None:
    loader = DataLoader(TensorDataset(torch.zeros(4, 2)), batch_size=2, num_workers=workers)
    with trace() as recorder:
        for (batch,) in loader:
            life = recorder.tensors.get(batch)
            assert life is not None
            assert life.maker.value == "batch"
            assert line_of(life.events[-1]) == "test_batches_come_from_their_loader"


def test_a_checkpoint_is_loaded(tmp_path: Any) -> None:
    torch.save({"state": [torch.zeros(2)]}, tmp_path / "x.pt")
    with trace() as recorder:
        loaded = torch.load(tmp_path / "x.pt")
        life = recorder.tensors.get(loaded["state"][0])
    assert life is not None
    assert (life.maker.value, life.events[0].what.value) == ("load", "loaded")


@pytest.mark.parametrize("wrapped", [nn.Parameter, getattr(nn.parameter, "Buffer", nn.Parameter)])
def test_a_parameter_shares_the_life_of_its_data(wrapped: Any) -> None:
    with trace() as recorder:
        data = make()
        life = recorder.tensors.get(wrapped(data))
    assert life is not None
    assert [line_of(event) for event in life.events] == ["make"]


def test_a_parameter_of_unknown_data_is_born_where_it_is_wrapped() -> None:
    data = make()
    with trace() as recorder:
        life = recorder.tensors.get(nn.Parameter(data))
    assert life is not None
    assert [event.what.value for event in life.events] == ["made"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copied_module_is_born_where_it_is_copied(copied: Any) -> None:
    with trace() as recorder:
        net = nn.Sequential(nn.Linear(2, 2))
        other = copied(net)
        inner, whole = recorder.modules.get(other[0]), recorder.modules.get(other)
        weight = recorder.tensors.get(other[0].weight)
        assert inner is not None and weight is not None
        assert (inner.owner, inner.name) == (whole, "0")
        assert (weight.maker.value, weight.module, weight.name) == ("weight", inner, "weight")
        assert [event.what.value for event in weight.events] == ["made"]
        assert weight.events != recorder.tensors.get(net[0].weight).events  # type: ignore[union-attr]


def test_what_replaces_a_weight_goes_on_with_its_life() -> None:
    with trace() as recorder:
        with torch.device("meta"):
            net = nn.Linear(2, 2)
        built = recorder.tensors.get(net.weight)
        weight = net.to_empty(device="cpu").weight
        life = recorder.tensors.get(weight)
    assert built is not None and life is not None
    assert (life.maker.value, life.name) == ("weight", "weight")
    assert life.events[: len(built.events)] == built.events
    assert [(event.what.value, event.device) for event in life.events[len(built.events) :]] == [
        ("moved", "cpu")
    ]


def test_a_move_is_noted_once() -> None:
    with trace() as recorder:
        life = recorder.tensors.get(nn.Linear(2, 2).to("meta").weight)
    assert life is not None
    assert [event.what.value for event in life.events].count("moved") == 1


@swaps
def test_tensors_can_be_swapped() -> None:
    with trace() as recorder:
        one, other = nn.Parameter(make()), nn.Parameter(torch.ones(2))
        lives = recorder.tensors.get(one), recorder.tensors.get(other)
        torch.utils.swap_tensors(one, other)
        assert (recorder.tensors.get(other), recorder.tensors.get(one)) == lives
    assert one.tolist() == [1, 1]


@swaps
def test_modules_that_swap_what_they_hold_are_recorded() -> None:
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with trace() as recorder:
            net = nn.Linear(2, 2)
            life = recorder.tensors.get(net.double().weight)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
    assert life is not None
    assert (life.maker.value, life.name) == ("weight", "weight")


def test_a_gradient_is_born_where_the_program_goes_backward() -> None:
    def backward(loss: torch.Tensor) -> None:
        loss.backward()

    with trace() as recorder:
        layer = nn.Linear(2, 1)
        backward(layer(make()[:2]).sum())
        life = recorder.tensors.get(layer.weight.grad)
    assert life is not None
    assert (life.maker.value, life.name) == ("gradient", "weight")
    assert [line_of(event) for event in life.events] == ["backward"]


class Double(torch.autograd.Function):
    """A function of the user's, of which torch tells no mode."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


@pytest.mark.parametrize(
    ("given", "maker"),
    [
        (lambda: torch.from_numpy(np.zeros(3)), "array"),
        (lambda: torch.frombuffer(bytearray(4), dtype=torch.int8), "array"),
        (lambda: torch.topk(make(), 2).indices, "factory"),
        (lambda: next(iter(torch.zeros(2, 2))), "factory"),
        (lambda: Double.apply(make()), "factory"),
    ],
)
def test_what_no_mode_tells_of_has_a_birth(given: Any, maker: str) -> None:
    with trace() as recorder:
        life = recorder.tensors.get(given())
    assert life is not None
    assert (life.maker.value, [event.what.value for event in life.events]) == (maker, ["made"])


def test_threads_are_recorded() -> None:
    found: list[Any] = []
    with trace() as recorder:

        def work() -> None:
            tensor = torch.zeros(2)
            found.append(recorder.tensors.get(tensor))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[0] is not None
    assert line_of(found[0].events[0]) == "work"


def test_a_thread_of_a_library_is_told_by_the_line_that_started_it() -> None:
    found: list[Any] = []
    scope = {"__name__": "library"}  # code that stands in no file of the user's
    exec("import torch\ndef work(found): found.append(torch.zeros(2))", scope)

    def begin() -> threading.Thread:
        thread = threading.Thread(target=scope["work"], args=(found,))
        thread.start()
        return thread

    with trace() as recorder:
        begin().join()
        life = recorder.tensors.get(found[0])
    assert life is not None
    assert [line_of(event) for event in life.events] == ["begin"]


def test_what_dies_is_forgotten() -> None:
    with trace() as recorder:
        for _ in range(1000):
            x = torch.zeros(4)
            x = x * 2 + torch.ones(4)
        del x
        net = nn.Linear(2, 2)
        del net
        gc.collect()
        assert len(recorder.tensors) == 0
        assert len(recorder.modules) == 0


def test_a_failing_call_keeps_nothing_alive() -> None:
    with trace() as recorder:
        x, y = torch.zeros(2, device="meta"), torch.zeros(2, 3)
        with pytest.raises(RuntimeError):
            x @ y @ y
        assert recorder.failed is not None
        assert [operand.device for operand in recorder.failed.operands] == ["meta", "cpu"]
        del x, y
        gc.collect()
        assert all(operand.tensor() is None for operand in recorder.failed.operands)


def test_the_call_that_raised_is_told_from_others() -> None:
    with trace() as recorder:
        try:
            torch.zeros(2) @ torch.zeros(3)
        except RuntimeError as error:
            assert recorder.failed is not None
            assert recorder.failed.is_of(error)
            assert not recorder.failed.is_of(RuntimeError(*error.args))
            again = RuntimeError(f"Caught RuntimeError in replica 1.\n{error}")
            assert recorder.failed.is_within(again)


def test_a_traceback_holds_no_frame_of_the_recorder() -> None:
    def fail() -> None:
        nn.functional.cross_entropy(torch.zeros(2, 3), torch.zeros(5, dtype=torch.long))

    def printed() -> list[str]:
        try:
            fail()
        except ValueError:
            lines = traceback.format_exc().splitlines()
            return [one for one in lines if "File" in one and "test_recorder" not in one]
        raise AssertionError

    before = printed()
    with trace():
        assert printed() == before
    with pytest.raises(ValueError, match="batch_size") as caught, trace():
        fail()
    assert not [
        e
        for e in caught.traceback
        if "tracing" in str(e.path) and "diagnose" in str(e.path) and "test_" not in str(e.path)
    ]


def wrapped() -> list[Any]:
    """What stands where a recorder puts its wrappers."""
    loaders: Any = torch.utils.data.dataloader
    places = (
        (nn.Module, "__init__"),
        (nn.Module, "_apply"),
        (nn.Parameter, "__new__"),
        (torch, "load"),
        (loaders._BaseDataLoaderIter, "__next__"),
        (threading.Thread, "_bootstrap_inner"),
        (traceback.TracebackException, "__init__"),
    )
    return [vars(owner)[name] for owner, name in places]


def test_everything_is_put_back() -> None:
    before = wrapped()
    with trace() as recorder:
        assert active() is recorder
        assert all(now is not then for now, then in zip(wrapped(), before, strict=True))
    assert wrapped() == before
    assert active() is None
    made = torch.zeros(1)
    nn.Linear(1, 1)
    assert recorder.tensors.get(made) is None
    assert len(recorder.modules) == 0


async def recorded(first: asyncio.Event, last: asyncio.Event) -> list[Event]:
    """What a task's recorder knows of a module that the task builds once others are done."""
    with trace() as recorder:
        first.set()
        await last.wait()
        assert active() is recorder
        life = recorder.modules.get(nn.Linear(2, 2))
        assert life is not None
        return list(life.events)


def test_recorders_of_tasks_that_take_turns_are_their_own() -> None:
    before = wrapped()

    async def run() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()
        with trace() as recorder:
            task = asyncio.create_task(recorded(begun, ended))
            await begun.wait()
            assert active() is recorder  # the other one was entered later
        ended.set()
        assert [event.what.value for event in await task] == ["made"]

    asyncio.run(run())
    assert active() is None
    assert wrapped() == before


def test_recorders_of_threads_that_overlap_are_their_own() -> None:
    before = wrapped()
    begun, ended = threading.Event(), threading.Event()
    found: list[Any] = []

    def other() -> None:
        with trace() as recorder:
            begun.set()
            ended.wait(60)
            found.append((recorder, active(), recorder.modules.get(nn.Linear(2, 2))))

    thread = threading.Thread(target=other)
    with trace() as recorder:
        thread.start()
        assert begun.wait(60)
        assert active() is recorder
    ended.set()
    thread.join()
    own, seen, life = found[0]
    assert seen is own is not recorder
    assert life is not None
    assert wrapped() == before


def test_steps_are_left_out_below_the_programs_own_modes() -> None:
    class Own(TorchFunctionMode):
        calls = 0

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            Own.calls += 1
            return func(*args, **(kwargs or {}))

    weight = nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    seen = []
    with trace(every=4) as recorder, Own():
        for _ in range(12):
            x = torch.zeros(2)
            seen.append(recorder.tensors.get(x) is not None)
            (weight * x).sum().backward()
            optimizer.step()
        assert Own.calls > 12
    assert seen[:3] == [True] * 3
    assert seen.count(True) < 8
    assert seen[7] or seen[8]


def test_every_must_be_a_step() -> None:
    with pytest.raises(ValueError, match="every 0 steps"), trace(every=0):
        pass


def test_a_fault_of_ours_leaves_the_program_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with trace() as recorder:
        monkeypatch.setattr(recorder, "seen", lambda *_: 1 / 0)
        monkeypatch.setattr(recorder, "failing", lambda *_: 1 / 0)
        assert torch.zeros(2).sum() == 0
        with pytest.raises(RuntimeError):
            torch.zeros(2) @ torch.zeros(3)


def test_random_numbers_are_the_same() -> None:
    torch.manual_seed(3)
    before = (torch.rand(4), nn.Linear(2, 2).weight)
    torch.manual_seed(3)
    with trace():
        after = (torch.rand(4), nn.Linear(2, 2).weight)
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_equality_of_a_class_is_not_asked() -> None:
    class Odd(nn.Module):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        def __hash__(self) -> int:
            raise AssertionError

    table: Table[Life] = Table()
    one, life = Odd(), Life(Origin.OTHER)
    table.set(one, life)
    assert table.get(one) is life
    assert table.get(Odd()) is None


def test_of_many_events_the_first_and_the_last_are_kept() -> None:
    events: tuple[Event, ...] = ()
    for number in range(40):
        events = extended(events, Event(EventKind.MADE, (), None, str(number)))
    assert len(events) == MOST_EVENTS
    assert [event.device for event in events[:2]] == ["0", "1"]
    assert events[-1].device == "39"


def test_an_exception_that_leaves_the_block_is_explained_with_its_tensors() -> None:
    def fail() -> None:
        weight = torch.zeros(3, 3, device="meta")
        nn.functional.linear(torch.zeros(2, 3), weight, weight[0])

    with pytest.raises(RuntimeError) as caught, trace():
        fail()
    assert active() is None
    operands = explain(caught.value).report.operands
    assert [(one.name, one.device) for one in operands][:2] == [
        ("weight", "meta"),
        ("torch.zeros(2, 3)", "cpu"),
    ]
    assert explain(RuntimeError(*caught.value.args)).report.operands == ()


def test_what_is_older_than_the_recorder_is_told_by_the_line_that_used_it_first() -> None:
    old = torch.zeros(2, 3)
    weight = torch.ones(3, 3, device="meta")
    with pytest.raises(RuntimeError) as caught, trace():
        used = old + 1
        nn.functional.linear(used, weight, weight[0])
    seen = {one.device: one for one in explain(caught.value).report.operands}
    assert seen["cpu"].seen
    assert seen["cpu"].born is not None
    assert seen["cpu"].born.code == "used = old + 1"
