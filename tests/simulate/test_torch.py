"""Torch as scripts use it: devices, moving, saving, autograd, optimizers, several GPUs."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from diagnose.simulation import is_active, run_function, simulated_gpus

A = torch.device("cuda", 0)
B = torch.device("cuda", 1)
CPU = torch.device("cpu")


# --- the context itself ---


def test_everything_is_undone() -> None:
    before = {
        name: vars(owner).get(name)
        for owner in (torch, torch.cuda, torch.Tensor, torch.UntypedStorage, threading.Thread)
        for name in ("device", "Generator", "to", "zeros", "is_available", "_bootstrap_inner")
    }
    available = torch.cuda.is_available()
    with simulated_gpus(3):
        assert torch.cuda.is_available()
        assert torch.cuda.device_count() == 3
        assert is_active()
        moved = torch.ones(2).cuda()
    after = {
        name: vars(owner).get(name)
        for owner in (torch, torch.cuda, torch.Tensor, torch.UntypedStorage, threading.Thread)
        for name in ("device", "Generator", "to", "zeros", "is_available", "_bootstrap_inner")
    }
    assert after == before
    assert not is_active()
    assert torch.cuda.is_available() == available
    assert moved.device == CPU
    assert torch.equal(moved + torch.ones(2), torch.full((2,), 2.0))
    assert torch.UntypedStorage(4).nbytes() == 4


def test_undone_after_an_error() -> None:
    with pytest.raises(KeyError), simulated_gpus(1):
        raise KeyError("mine")
    assert not is_active()


def test_nested_use_is_refused(gpus: None) -> None:
    with pytest.raises(RuntimeError, match="do not nest"), simulated_gpus(1):
        pass
    assert torch.cuda.device_count() == 2  # the outer one goes on


@pytest.mark.parametrize(("count", "wording"), [(-1, "new"), (65, "new"), (1, "newest")])
def test_bad_arguments_are_refused(count: int, wording: Any) -> None:
    with pytest.raises(ValueError, match=r"GPUs|wording"), simulated_gpus(count, wording=wording):
        pass


def test_as_a_decorator_and_for_a_function() -> None:
    @simulated_gpus(1)
    def devices() -> int:
        return torch.cuda.device_count()

    assert devices() == 1
    assert run_function(lambda: torch.zeros(1, device="cuda").device, gpus=1) == A


def test_no_gpus_is_a_machine_without_one() -> None:
    with simulated_gpus(0):
        assert not torch.cuda.is_available()
        assert torch.cuda.device_count() == 0
        with pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
            torch.ones(1).cuda()


# --- torch.cuda ---


def test_devices(gpus: None) -> None:
    assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert torch.zeros(1).cuda().device == B
        assert torch.zeros(1, device="cuda").device == B
    torch.cuda.set_device("cuda:1")
    assert torch.zeros(1).cuda().device == B
    assert torch.cuda.current_stream().device == B
    torch.cuda.set_device(0)
    assert torch.device(1) == B
    assert isinstance(B, torch.device)
    assert pickle.loads(pickle.dumps(B)) == B


def test_information(gpus: None) -> None:
    assert torch.cuda.get_device_name(1) == "Simulated GPU"
    assert torch.cuda.get_device_capability() == (8, 0)
    assert torch.cuda.get_device_properties(0).total_memory == torch.cuda.mem_get_info(0)[1]
    assert torch.cuda.is_bf16_supported()
    assert torch.cuda.memory_allocated() == 0
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    for function in ("synchronize", "empty_cache", "ipc_collect", "reset_peak_memory_stats"):
        getattr(torch.cuda, function)()
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(2)


def test_streams_and_events(gpus: None) -> None:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(torch.cuda.Stream()):
        result = torch.ones(2, device="cuda") * 2
    end.record()
    torch.cuda.current_stream().wait_stream(torch.cuda.Stream())
    result.record_stream(torch.cuda.current_stream())
    assert start.elapsed_time(end) >= 0


def test_a_device_that_is_not_there(gpus: None) -> None:
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
        torch.zeros(1).to("cuda:2")
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
        torch.cuda.set_device(2)


def test_visible_devices_set_before_first_use(monkeypatch: pytest.MonkeyPatch, gpus: None) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert torch.cuda.device_count() == 1
    torch.zeros(1, device="cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert torch.cuda.device_count() == 1


def test_random_numbers_of_each_device(gpus: None) -> None:
    torch.manual_seed(3)
    first = torch.rand(4, device=B)
    torch.manual_seed(3)
    torch.rand(9)
    torch.rand(9, device=A)
    assert torch.equal(torch.rand(4, device=B), first)
    state = torch.cuda.get_rng_state(B)
    drawn = torch.rand(4, device=B)
    torch.cuda.set_rng_state(state, B)
    assert torch.equal(torch.rand(4, device=B), drawn)


def test_generator(gpus: None) -> None:
    generator = torch.Generator(device="cuda:1").manual_seed(1)
    assert generator.device == B
    assert torch.Generator().device == CPU
    assert isinstance(generator, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    assert torch.randn(2, device=B, generator=generator).device == B


# --- tensors ---


def test_attributes(gpus: None) -> None:
    tensor = torch.ones(2, 2, device=B)
    assert tensor.device == B
    assert repr(tensor.device) == "device(type='cuda', index=1)"
    assert (tensor.is_cuda, tensor.is_cpu, tensor.get_device()) == (True, False, 1)
    assert tensor.type() == "torch.cuda.FloatTensor"
    assert isinstance(tensor, torch.cuda.FloatTensor)
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    assert type(tensor) is torch.Tensor
    assert "device='cuda:1'" in repr(tensor)
    assert tensor[0].view(1, 2).detach().data.device == B
    assert tensor.untyped_storage().device == B


def test_to(gpus: None) -> None:
    tensor = torch.ones(2, device=B)
    assert tensor.to("cuda:1") is tensor
    assert tensor.to(B, torch.float32) is tensor
    assert tensor.to(torch.float64).device == B
    assert tensor.to("cuda:0", torch.float16).dtype is torch.float16
    assert tensor.to(torch.ones(1, dtype=torch.int32)).device == CPU
    assert tensor.to(device="cpu", dtype=torch.int64).dtype is torch.int64
    assert tensor.to(0).device == A
    assert tensor.to(B, copy=True) is not tensor
    assert tensor.cpu().cuda().device == A
    assert tensor.type("torch.FloatTensor").device == CPU
    moved = torch.ones(2)
    moved.cuda().zero_()
    assert torch.equal(moved, torch.ones(2)), "moving copies"


def test_to_and_from_meta(gpus: None) -> None:
    meta = torch.ones(2, device=A).to("meta")
    assert meta.device.type == "meta"
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        meta.to("cuda")
    module = nn.Linear(2, 2, device="meta").to_empty(device="cuda:1")
    assert module.weight.device == B


def test_numpy(gpus: None) -> None:
    tensor = torch.ones(2, device=A)
    text = (
        "can't convert cuda:0 device type tensor to numpy. "
        "Use Tensor.cpu() to copy the tensor to host memory first."
    )
    for convert in (tensor.numpy, lambda: np.asarray(tensor), lambda: np.mean([tensor, tensor])):
        with pytest.raises(TypeError) as caught:
            convert()
        assert str(caught.value) == text
    assert tensor.cpu().numpy().tolist() == tensor.tolist() == [1.0, 1.0]
    assert tensor.numpy(force=True).tolist() == [1.0, 1.0]
    assert float(tensor[0]) == 1.0


def test_default_device(gpus: None) -> None:
    with torch.device("cuda:1"):
        assert torch.zeros(1).device == B
        assert torch.tensor([1]).device == B
        assert torch.as_tensor([1]).device == B
        assert nn.Linear(2, 2).weight.device == B
    torch.set_default_device("cuda")
    try:
        assert torch.ones(1).device == A
        assert torch.tensor(1.0).device == A
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device == CPU


def test_pinned_memory(gpus: None) -> None:
    pinned = torch.ones(2).pin_memory()
    assert pinned.is_pinned()
    assert not torch.ones(2).is_pinned()
    loader = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2, pin_memory=True)
    assert [batch.is_pinned() for batch in loader] == [True, True]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_torchscript(gpus: None) -> None:
    def add(tensor, device: torch.device):  # type: ignore[no-untyped-def]
        return torch.zeros(2, device=device) + tensor + torch.zeros_like(tensor)

    scripted = torch.jit.script(add)
    assert scripted(torch.ones(2, device=B), B).device == B
    with pytest.raises(RuntimeError, match="failed in the TorchScript interpreter") as caught:
        scripted(torch.ones(2, device=A), B)
    assert str(caught.value).endswith("cuda:1 and cuda:0!\n")


@pytest.mark.filterwarnings("ignore")
def test_dynamic_quantization_has_no_kernel_for_a_gpu(gpus: None) -> None:
    model = nn.Sequential(nn.Linear(4, 4)).eval()
    quantized = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    assert quantized(torch.randn(2, 4)).device.type == "cpu"
    sentence = "Could not run 'quantized::linear_dynamic' with arguments from the 'CUDA' backend"
    with pytest.raises(NotImplementedError, match=sentence):
        quantized.to("cuda")(torch.randn(2, 4, device="cuda"))


def test_fake_tensors_keep_their_own_devices(gpus: None) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        made = torch.empty(2, 3, device="cuda:1")
        assert made.device == B
        assert (made @ torch.empty(3, 2, device="cuda:1")).device == B
        with pytest.raises(RuntimeError, match="cuda:1"):
            made @ torch.empty(3, 2)


def test_fake_tensors_made_of_gpu_tensors(gpus: None) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fake = mode.from_tensor(torch.ones(3, 4, device=B))
    assert fake.device == B
    with mode, pytest.raises(RuntimeError, match="cuda:1 and cpu"):
        fake @ torch.empty(4, 2)


def test_export_of_trainable_parameters_on_a_gpu_is_refused(gpus: None) -> None:
    with pytest.raises(NotImplementedError, match=r"torch\.export .* is not simulated"):
        torch.export.export(nn.Linear(2, 2).cuda(), (torch.ones(1, 2, device=A),))


def test_one_hot_stays_on_the_cpu(gpus: None) -> None:
    encoded = nn.functional.one_hot(torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        encoded * torch.ones(2, 2, device=A)


# --- saving ---


@pytest.mark.parametrize(
    ("map_location", "expected"),
    [(None, B), ("cpu", CPU), ("cuda:0", A), ({"cuda:1": "cuda:0"}, A)],
)
def test_load(gpus: None, map_location: Any, expected: torch.device) -> None:
    file = io.BytesIO()
    torch.save(nn.Linear(2, 2).cuda(1).state_dict(), file)
    file.seek(0)
    state = torch.load(file, map_location=map_location)
    assert {tensor.device for tensor in state.values()} == {expected}


def test_load_where_there_are_fewer_gpus() -> None:
    file = io.BytesIO()
    with simulated_gpus(2):
        torch.save(torch.ones(2, device=B), file)
    for gpus, text in ((1, "device_count() is 1"), (0, "is_available() is False")):
        file.seek(0)
        with simulated_gpus(gpus), pytest.raises(RuntimeError) as caught:
            torch.load(file)
        assert text in str(caught.value)


def test_copies(gpus: None) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(B)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert {tensor.device for tensor in other.state_dict().values()} == {B}
        assert other[0].weight is not model[0].weight


# --- modules, autograd, optimizers ---


def test_module_to_keeps_parameters(gpus: None) -> None:
    embedding, head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    head.weight = embedding.weight
    model = nn.ModuleList([embedding, head])
    parameter = embedding.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.to("cuda")
    assert embedding.weight is parameter is head.weight
    assert parameter.device == A
    head(embedding(torch.tensor([1], device=A))).sum().backward()
    before = parameter.detach().clone()
    optimizer.step()
    assert not torch.equal(before, parameter)


def test_gradients_go_back_across_devices(gpus: None) -> None:
    leaf = torch.ones(2, requires_grad=True)
    on_b = leaf.to(A).to(B, torch.float64) * 3
    on_b.sum().cpu().backward()
    assert leaf.grad is not None
    assert leaf.grad.device == CPU
    assert leaf.grad.dtype == torch.float32
    assert torch.equal(leaf.grad, torch.full((2,), 3.0))


def test_gradients_of_writes_across_devices(gpus: None) -> None:
    leaf = torch.ones(2, device=A, requires_grad=True)
    target = torch.zeros(2, 2)
    target[0] = leaf * 2
    target[1].copy_(leaf)
    target.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.device == A
    assert torch.equal(leaf.grad.cpu(), torch.full((2,), 3.0))


def test_custom_function_with_an_unused_output(gpus: None) -> None:
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, tensor: Any) -> Any:
            return tensor * 1, tensor * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:  # type: ignore[override]
            return first + second * 2

    leaf = torch.ones(2, device=B, requires_grad=True)
    Two.apply(leaf)[0].sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.device == B


def test_gradients_from_elsewhere_are_refused(gpus: None) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, tensor: Any) -> Any:
            return tensor * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:  # type: ignore[override]
            return gradient.to(B)

    leaf = torch.ones(2, device=A, requires_grad=True)
    text = "Function DoubleBackward returned an invalid gradient at index 0 - "
    with pytest.raises(RuntimeError, match=f"{text}expected device cuda:0 but got cuda:1"):
        Double.apply(leaf).sum().backward()
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0"):
        (leaf * 2).backward(torch.ones(2))
    result = leaf * 2
    result.register_hook(lambda gradient: gradient.cpu())
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the type of value"):
        result.sum().backward()
    assert leaf.grad is None


def test_gradient_of_a_number_stays_with_it(gpus: None) -> None:
    scale = torch.tensor(2.0, requires_grad=True)
    (torch.ones(3, device=A) * scale).sum().backward()
    assert scale.grad is not None
    assert scale.grad.device == CPU


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_restores_the_gpu_generator(gpus: None, reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    leaf = torch.ones(50, device=A, requires_grad=True)
    result = checkpoint(nn.functional.dropout, leaf, 0.5, use_reentrant=reentrant)
    result.sum().backward()
    assert leaf.grad is not None
    assert torch.equal(leaf.grad, result.detach())


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (torch.optim.SGD, {"momentum": 0.9}),
        (torch.optim.Adam, {"foreach": True}),
        (torch.optim.Adam, {"foreach": False}),
        (torch.optim.AdamW, {"fused": True}),
        (torch.optim.Adagrad, {}),
    ],
)
def test_training_over_two_gpus(gpus: None, optimizer: Any, options: dict[str, Any]) -> None:
    first, second = nn.Linear(4, 4).to(A), nn.Linear(4, 2).to(B)
    parameters = [*first.parameters(), *second.parameters()]
    stepper = optimizer(parameters, lr=0.1, **options)
    before = [parameter.detach().clone() for parameter in parameters]
    for _ in range(2):
        stepper.zero_grad()
        loss = second(first(torch.ones(3, 4, device=A)).relu().to(B)).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        stepper.step()
    assert [p.grad.device for p in parameters if p.grad is not None] == [A, A, B, B]
    assert not any(torch.equal(old, new) for old, new in zip(before, parameters, strict=True))


def test_optimizer_state_on_the_cpu(old_gpus: None) -> None:
    parameter = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adagrad([parameter])  # makes its state at once, on the cpu
    parameter.data = parameter.data.cuda()
    parameter.sum().backward()
    with pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu!"):
        optimizer.step()


def test_autocast_and_scaler(gpus: None) -> None:
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        output = model(torch.ones(3, 4, device="cuda"))
        with torch.autocast("cuda", enabled=False):
            assert model(torch.ones(3, 4, device="cuda")).dtype is torch.float32
    assert output.dtype is torch.bfloat16
    scaler.scale(output.float().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert model(torch.ones(3, 4, device="cuda")).dtype is torch.float32


# --- several GPUs ---


def test_data_parallel(gpus: None) -> None:
    seen: list[torch.device] = []

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 2)
            self.used_by_one_replica = nn.Linear(2, 2)
            self.register_buffer("scale", torch.ones(1))

        def forward(self, data: torch.Tensor) -> torch.Tensor:
            seen.append(data.device)
            result = self.layer(data) * self.scale
            return self.used_by_one_replica(result) if data.device == A else result

    model = nn.DataParallel(Model().cuda())
    output = model(torch.ones(6, 4))
    assert sorted(map(str, seen)) == ["cuda:0", "cuda:1"]
    assert output.device == A
    assert output.shape == (6, 2)
    output.sum().backward()
    assert {p.grad.device for p in model.parameters() if p.grad is not None} == {A}


def test_data_parallel_with_a_tensor_outside_the_module(gpus: None) -> None:
    constant = torch.ones(1, 4, device=A)

    class Model(nn.Module):
        def forward(self, data: torch.Tensor) -> torch.Tensor:
            return data + constant

    with pytest.raises(
        RuntimeError, match="Caught RuntimeError in replica 1 on device 1"
    ) as caught:
        nn.DataParallel(Model())(torch.ones(4, 4, device=A))
    assert "found at least two devices, cuda:1 and cuda:0!" in str(caught.value)
    assert "diagnose/simulation" not in str(caught.value)


def test_data_parallel_of_a_module_elsewhere(gpus: None) -> None:
    model = nn.DataParallel(nn.Linear(2, 2).to(B))
    with pytest.raises(RuntimeError, match="module must have its parameters and buffers on device"):
        model(torch.ones(2, 2))


def test_threads_see_the_gpus(gpus: None) -> None:
    errors: list[str] = []

    def work() -> None:
        try:
            torch.ones(2, device=A) + torch.ones(2)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1
    assert errors[0].endswith("cuda:0 and cpu!")


def test_forked_worker_may_not_touch_cuda(gpus: None) -> None:
    torch.ones(1, device="cuda")

    class Data(torch.utils.data.Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.ones(1).cuda()

    loader = torch.utils.data.DataLoader(Data(), num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"):
        next(iter(loader))


def test_a_worker_of_a_process_that_has_not_touched_cuda_begins() -> None:
    class Data(torch.utils.data.Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.ones(1)

    with simulated_gpus(1):
        loader = torch.utils.data.DataLoader(Data(), num_workers=1, multiprocessing_context="fork")
        assert [batch.cuda().item() for batch in loader] == [1, 1]


def test_padding_on_the_cpu_is_on_the_cpu() -> None:
    rows = [torch.ones(2), torch.ones(3)]
    with simulated_gpus(1):
        padded = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        with pytest.raises(RuntimeError, match="two devices"):
            padded + torch.ones(2, 3, device="cuda")
        there = nn.utils.rnn.pad_sequence([row.cuda() for row in rows], batch_first=True)
        assert str((there + torch.ones(2, 3, device="cuda")).device) == "cuda:0"


def test_functions_that_compare_devices_take_their_arguments_by_name(gpus: None) -> None:
    rows, first = torch.tensor([[3.0, 1.0]], device=A), torch.tensor([[1]], device=A)
    assert torch.take_along_dim(input=rows, indices=first, dim=1).device == A
    assert torch.quantile(input=rows, q=0.5).device == A
    assert [part.device for part in torch.tensor_split(input=rows, sections=2, dim=1)] == [A, A]
    assert [part.device for part in rows.tensor_split(indices=(1,), dim=1)] == [A, A]
    with pytest.raises(RuntimeError, match=r"checking arguments for torch\.take_along_dim"):
        torch.take_along_dim(input=rows, indices=first.cpu(), dim=1)


# --- distributed tensors ---


@pytest.fixture
def sharded(gpus: None) -> Iterator[nn.Module]:
    """A layer under FSDP2, of one process."""
    from torch import distributed
    from torch.distributed.fsdp import fully_shard

    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    yield fully_shard(nn.Linear(4, 4, device="cuda"))
    distributed.destroy_process_group()


def test_a_distributed_tensor_is_where_its_shard_is(sharded: nn.Module) -> None:
    (_, parameter) = next(iter(sharded.named_parameters()))
    assert (parameter.device, parameter.to_local().device) == (A, A)
    assert (parameter * 2).to_local().device == A


def test_a_distributed_tensor_refuses_a_plain_one_itself(sharded: nn.Module) -> None:
    with pytest.raises(
        RuntimeError, match=r"aten\.mul\.Tensor got mixed torch\.Tensor and DTensor"
    ):
        sharded.weight * torch.ones(4, 4, device="cuda")
    assert sharded(torch.ones(2, 4, device="cuda")).device == A


# --- CUDA graphs ---

IN_CAPTURE: dict[str, Callable[[torch.Tensor], object]] = {
    "index by a list": lambda x: x[:, [1, 2]],
    "a number written by an index": lambda x: x.__setitem__(torch.ones(2, device=A) > 0, 0.0),
    "a tensor made of numbers": lambda x: torch.tensor([1.0, 2.0], device=x.device),
    "a move": lambda x: torch.ones(2).to(x.device),
    "a move to the cpu": lambda x: x.cpu(),
    "a copy": lambda x: x.copy_(torch.ones(2, 4)),
}


@pytest.mark.parametrize("name", IN_CAPTURE)
def test_memory_that_is_not_pinned_is_not_copied_in_a_graph(gpus: None, name: str) -> None:
    x = torch.ones(2, 4, device=A)
    IN_CAPTURE[name](x)  # outside of a graph it may
    with (
        pytest.raises(RuntimeError, match="during CUDA graph capture unless the CPU tensor is pin"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        IN_CAPTURE[name](x)
    assert not torch.cuda.is_current_stream_capturing()


def test_what_a_graph_may_hold(gpus: None) -> None:
    pinned = torch.ones(2, 4).pin_memory()
    x, graph = torch.ones(2, 4, device=A), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * torch.tensor(3.0) + pinned.to(A, non_blocking=True) + torch.full((), 1.0, device=A)
    assert y.tolist() == [[5.0] * 4] * 2
    with pytest.raises(NotImplementedError, match="do not replay"):
        graph.replay()
