"""The tensors a failing program had at hand, named as its author would name them."""

from __future__ import annotations

import itertools
import sys
from collections import UserDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hooks.children import MESSAGE  # noqa: E402
from torch import nn  # noqa: E402

from diagnose.hooks.live import explain  # noqa: E402
from diagnose.model import Diagnosis, SeenTensor  # noqa: E402
from diagnose.simulation import simulated_gpus  # noqa: E402

Explain = Callable[[BaseException], Diagnosis]

#: What of the program's own code ran; looking at a failure must leave it empty.
RAN: list[str] = []


def diagnosis_of(program: Callable[[], object], explain: Explain = explain) -> Diagnosis:
    """What is said of the exception that a program raises on two GPUs."""
    with simulated_gpus(2):
        try:
            program()
        except RuntimeError as error:
            return explain(error)
    raise AssertionError("it does not fail")


def seen(diagnosis: Diagnosis) -> dict[str, SeenTensor]:
    return {tensor.name: tensor for tensor in diagnosis.report.tensors}


def said(diagnosis: Diagnosis) -> str:
    """The evidence for the first cause."""
    return "\n".join(evidence.text for evidence in diagnosis.causes[0].evidence)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.ModuleDict({"base": nn.Linear(4, 4)})

    def forward(self, x: Any) -> Any:
        return sum(layer(x) for layer in self.proj.values())


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(3))
        self.out_head = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.out_head(x)


def test_a_head_that_was_replaced_after_the_move() -> None:
    def train() -> None:
        model = Net().cuda()
        model.out_head = nn.Linear(4, 2)
        model(torch.ones(3, 4, device="cuda"))

    diagnosis = diagnosis_of(train)
    tensors = seen(diagnosis)
    assert tensors["out_head.weight"] == SeenTensor(
        "out_head.weight",
        "cpu",
        "parameter",
        "Linear",
        frame=len(diagnosis.report.frames) - 1,
        shape=(2, 4),
        root="model",
    )
    assert tensors["layers.0.proj.base.weight"].device == "cuda:0"
    assert diagnosis.causes[0].id == "submodule-added-after-move"
    assert "out_head.weight, out_head.bias" in said(diagnosis)


def test_an_adapter_deep_in_a_model_has_its_full_name() -> None:
    def train() -> None:
        model = Net().cuda()
        model.layers[1].proj["lora_A"] = nn.Linear(4, 4)
        wrapped = nn.Sequential(model)
        wrapped(torch.ones(3, 4, device="cuda"))

    diagnosis = diagnosis_of(train)
    assert seen(diagnosis)["0.layers.1.proj.lora_A.weight"].device == "cpu"
    assert "0.layers.1.proj.lora_A.weight" in said(diagnosis)


def test_a_tensor_attribute_is_named_from_self() -> None:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)
            self.pe = torch.zeros(4)
            self.unused = torch.zeros(4)
            self.register_buffer("scale", torch.ones(1))

        def forward(self, x: Any) -> Any:
            return self.linear(x) + self.pe

    diagnosis = diagnosis_of(lambda: Encoder().cuda()(torch.ones(3, 4, device="cuda")))
    tensors = seen(diagnosis)
    assert tensors["self.pe"].kind == "attribute"
    assert tensors["self.pe"].owner == "Encoder"
    assert tensors["self.pe"].device == "cpu"
    assert tensors["scale"].kind == "buffer"
    assert tensors["scale"].device == "cuda:0"
    assert diagnosis.causes[0].id == "unregistered-tensor"
    assert "self.pe" in said(diagnosis)
    assert "self.unused" not in said(diagnosis)


def test_layers_in_a_plain_list() -> None:
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(4, 4)
            self.blocks = [nn.Linear(4, 4), nn.Linear(4, 4)]
            self.listed = [self.first]

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            for block in self.blocks:
                x = block(x)
            return x

    diagnosis = diagnosis_of(lambda: Stack().cuda()(torch.ones(3, 4, device="cuda")))
    assert seen(diagnosis)["self.blocks[1].weight"].kind == "unregistered"
    assert not any("listed" in name for name in seen(diagnosis))
    assert diagnosis.causes[0].id == "unregistered-submodule"
    assert "self.blocks[0].weight" in said(diagnosis)


def test_optimizer_state_away_from_its_parameter() -> None:
    def resume() -> None:
        model = nn.Linear(4, 4)
        optimizer = torch.optim.Adam(model.parameters(), foreach=False)
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        model.cuda()
        model.zero_grad()
        model(torch.ones(2, 4, device="cuda")).sum().backward()
        optimizer.step()

    diagnosis = diagnosis_of(resume)
    states = [t for t in diagnosis.report.tensors if t.kind == "state"]
    assert any("['exp_avg']" in t.name for t in states)
    assert not any("['step']" in t.name for t in states)
    assert {t.device for t in states} == {"cpu"}
    assert diagnosis.causes[0].id == "optimizer-state"


class Encoding(UserDict):  # type: ignore[type-arg]
    """Like transformers' BatchEncoding."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("no attribute may be asked for")


Pair = namedtuple("Pair", "images labels")


def test_variables_and_one_level_into_containers() -> None:
    def step() -> None:
        model = nn.Linear(4, 4).cuda()
        x = torch.ones(2, 4)
        batch = Encoding({"ids": torch.ones(1), 3: torch.ones(2)})
        pair = Pair(torch.ones(3), "label")
        rows = [torch.ones(4), {"deeper": torch.ones(5)}]
        model(x)
        del batch, pair, rows

    diagnosis = diagnosis_of(step)
    tensors = seen(diagnosis)
    assert {"x", "batch['ids']", "batch[3]", "pair[0]", "rows[0]"} <= tensors.keys()
    assert tensors["x"].kind == "local"
    assert not any("deeper" in name for name in tensors)
    assert diagnosis.causes[0].id == "input-not-moved"


def test_a_whole_model_on_the_cpu() -> None:
    def evaluate() -> None:
        student, teacher = Net().cuda(), Net()
        x = torch.ones(3, 4, device="cuda")
        student(x)
        teacher(x)

    diagnosis = diagnosis_of(evaluate)
    assert seen(diagnosis)["out_head.weight"].root == "teacher"
    assert seen(diagnosis)["student.out_head.weight"].device == "cuda:0"
    assert diagnosis.causes[0].id == "module-not-moved"
    assert "teacher" in said(diagnosis)


def test_a_sharded_model_has_no_strays() -> None:
    def run() -> None:
        model = Net().cuda(0)
        model.layers[2].cuda(1)
        model.out_head.cuda(1)
        model(torch.ones(3, 4, device="cuda:0"))

    diagnosis = diagnosis_of(run)
    text = "\n".join(e.text for cause in diagnosis.causes for e in cause.evidence)
    assert "cuda:0, cuda:1" in text
    assert "Most of the model" not in text


# --- programs that would rather not be looked at --------------------------------------------------


class Bomb:
    """Every way of asking ends the program, and is recorded."""

    def _boom(self, *args: object) -> Any:
        RAN.append("boom")
        raise SystemExit(4)

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __hash__ = __eq__ = _boom  # type: ignore[assignment]
    __class__ = property(_boom)  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        RAN.append(name)
        raise SystemExit(4)


class BombTensor(torch.Tensor):  # type: ignore[misc]
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        RAN.append("function")
        raise SystemExit(4)


class BombDevice(torch.Tensor):  # type: ignore[misc]
    """Everything that says where it is and how large would run, and be recorded."""

    @property
    def device(self) -> Any:
        RAN.append("device")
        raise SystemExit(4)

    @property
    def shape(self) -> Any:
        RAN.append("shape")
        return (1, 2, 3)


class BombDispatch(torch.Tensor):  # type: ignore[misc]
    """A wrapper that torch's C++ itself would ask."""

    @staticmethod
    def __new__(cls, shape: tuple[int, ...]) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls, shape, dispatch_device=True, dispatch_sizes_strides_policy="sizes"
        )

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        RAN.append("dispatch")
        return torch.device("meta") if "device" in str(func) else [7]


class Key:
    """Stands in an optimizer's state where a parameter should."""

    @property
    def device(self) -> Any:
        RAN.append("key")
        return "cuda:0"


class Meta(type):
    """Its classes have no name to tell."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        RAN.append("name")
        return "x"

    def __subclasscheck__(cls, other: type) -> bool:
        RAN.append("subclass")
        return True


class Owner(nn.Module, metaclass=Meta):  # type: ignore[misc]
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        RAN.append("dict")
        return {}


class BombModule(nn.Linear):  # type: ignore[misc]
    armed = False

    def __getattribute__(self, name: str) -> Any:
        if BombModule.armed and name in {"named_parameters", "parameters", "__dict__", "device"}:
            RAN.append(name)
        return super().__getattribute__(name)


class BombList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        RAN.append("iter")
        raise SystemExit(4)


def test_no_code_of_the_program_runs_while_looking() -> None:
    def train() -> None:
        bomb, listed = Bomb(), BombList([torch.ones(1)])
        tensor = torch.ones(7).as_subclass(BombTensor)
        module = BombModule(3, 3)
        evil = {"\x1b[2Jred": torch.ones(1), bomb.__class__ if False else "ok": bomb}
        model = Net().cuda()
        x = torch.ones(3, 4)
        model(x)
        del bomb, listed, tensor, module, evil

    def armed(error: BaseException) -> Diagnosis:
        RAN.clear()
        BombModule.armed = True
        try:
            diagnosis = explain(error)
        finally:
            BombModule.armed = False
        assert RAN == []
        return diagnosis

    tensors = seen(diagnosis_of(train, armed))
    assert tensors["tensor"].shape == (7,)
    assert tensors["listed[0]"].device == "cpu"
    assert tensors["module.weight"].device == "cpu"
    assert tensors["x"].device == "cpu"
    assert "evil['\\x1b[2Jred']" in tensors
    assert not any("\x1b" in name for name in tensors)


def test_what_a_tensor_is_asked_is_asked_of_torch_itself() -> None:
    def train() -> None:
        odd = torch.ones(2).as_subclass(BombDevice)
        wrapped = BombDispatch((3,))
        lazy = nn.LazyLinear(3)
        owner = Owner()
        model = Net().cuda()
        optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
        optimizer.state[Key()] = {"momentum_buffer": torch.ones(2)}
        x = torch.ones(3, 4)
        RAN.clear()  # torch has asked some of it by now
        model(x)
        del odd, wrapped, lazy, owner

    def plainly(error: BaseException) -> Diagnosis:
        RAN.clear()
        diagnosis = explain(error)
        assert RAN == []
        return diagnosis

    tensors = seen(diagnosis_of(train, plainly))
    assert (tensors["odd"].device, tensors["odd"].shape) == ("cpu", (2,))
    assert "wrapped" not in tensors
    assert tensors["lazy.weight"].shape == ()
    assert tensors["x"].device == "cpu"
    assert not any(tensor.kind == "state" for tensor in tensors.values())


def test_real_tensors_are_asked_without_a_simulation() -> None:
    odd = torch.ones(2, device="meta").as_subclass(BombDevice)
    RAN.clear()
    try:
        raise RuntimeError(MESSAGE)
    except RuntimeError as error:
        tensors = seen(explain(error))
    assert (tensors["odd"].device, tensors["odd"].shape) == ("meta", (2,))
    assert RAN == []
    del odd


def test_a_namespace_of_the_programs_own_is_not_asked() -> None:
    ran: list[str] = []

    class Space(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            ran.append("items")
            return super().items()

    class Other(UserDict):  # type: ignore[type-arg]
        def items(self) -> Any:
            ran.append("items")
            return super().items()

    for space in (Space(), Other()):
        try:
            exec(f"import torch\nx = torch.ones(3)\nraise RuntimeError({MESSAGE!r})", {}, space)
        except RuntimeError as error:
            ran.clear()
            explain(error)
    assert ran == []


def test_a_large_model_is_looked_at_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wide(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(nn.LayerNorm(1) for _ in range(11_000))
            self.last = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.last(x)

    wide = Wide()

    def train() -> None:
        model = wide
        model.last.cuda()
        model(torch.ones(2, 4))

    def ticking(error: BaseException) -> Diagnosis:
        """The deadline is told by a clock that goes on by 50 microseconds whenever it is looked at."""
        clock = itertools.count(0, 50e-6)
        monkeypatch.setattr("time.thread_time", lambda: next(clock))
        diagnosis = explain(error)
        monkeypatch.undo()
        return diagnosis

    whole, cut = seen(diagnosis_of(train)), seen(diagnosis_of(train, ticking))
    assert len(whole) <= 20_000
    assert 1_000 < len(cut) < 10_000
    assert "last.weight" in whole
    assert "last.weight" in cut


def test_without_torch_there_are_no_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def train() -> None:
        x = torch.ones(3, 4)
        Net().cuda()(x)

    def without(error: BaseException) -> Diagnosis:
        with monkeypatch.context() as patch:
            patch.delitem(sys.modules, "torch")
            diagnosis = explain(error)
            assert "torch" not in sys.modules
        return diagnosis

    assert diagnosis_of(train).report.tensors
    assert diagnosis_of(train, without).report.tensors == ()
