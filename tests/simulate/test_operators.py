"""Which mixtures of devices an operator takes, and what it says of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from diagnose.simulation import simulated_gpus

A = "cuda:0"
B = "cuda:1"


def on(device: str, *shape: int) -> torch.Tensor:
    return torch.ones(shape or (3, 4), device=device)


def ids(device: str) -> torch.Tensor:
    return torch.tensor([0, 2, 1], device=device)


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    assert type(caught.value) is RuntimeError
    return str(caught.value)


def different(argument: str, device: str, common: str, method: str) -> str:
    return (
        f"Expected all tensors to be on the same device, but got {argument} is on {device}, "
        f"different from other tensors on {common} (when checking argument in method {method})"
    )


def two_devices(first: str, second: str) -> str:
    return (
        "Expected all tensors to be on the same device, "
        f"but found at least two devices, {first} and {second}!"
    )


NAMED = {
    "linear, input on the cpu": (
        lambda: nn.Linear(4, 2).cuda()(on("cpu")),
        different("mat1", "cpu", A, "wrapper_CUDA_addmm"),
    ),
    "linear, model on the cpu": (
        lambda: nn.Linear(4, 2)(on(A)),
        different("mat1", A, "cpu", "wrapper_CUDA_addmm"),
    ),
    "linear, two GPUs": (
        lambda: nn.Linear(4, 2).to(B)(on(A)),
        different("mat1", A, B, "wrapper_CUDA_addmm"),
    ),
    "linear without bias": (
        lambda: nn.Linear(4, 2, bias=False).cuda()(on("cpu")),
        different("mat2", A, "cpu", "wrapper_CUDA_mm"),
    ),
    "batched matmul": (
        lambda: on(A, 2, 3, 4) @ on("cpu", 2, 4, 3),
        different("mat2", "cpu", A, "wrapper_CUDA_bmm"),
    ),
    "matrix times vector": (
        lambda: on(A) @ on("cpu", 4),
        different("mat", A, "cpu", "wrapper_CUDA_addmv_"),
    ),
    "embedding": (
        lambda: nn.Embedding(5, 4).cuda()(ids("cpu")),
        different("index", "cpu", A, "wrapper_CUDA__index_select"),
    ),
    "embedding bag": (
        lambda: nn.EmbeddingBag(5, 4).cuda()(ids("cpu"), torch.tensor([0])),
        different("indices", "cpu", A, "wrapper_CUDA___embedding_bag"),
    ),
    "cat": (
        lambda: torch.cat([on(A), on(B)]),
        different("tensors", B, A, "wrapper_CUDA_cat"),
    ),
    "stack": (
        lambda: torch.stack([on("cpu"), on(A)]),
        different("tensors", A, "cpu", "wrapper_CUDA_cat"),
    ),
    "cross entropy, target": (
        lambda: F.cross_entropy(on(A), ids("cpu")),
        different("target", "cpu", A, "wrapper_CUDA_nll_loss_forward"),
    ),
    "cross entropy, weight": (
        lambda: F.cross_entropy(on(A), ids(A), weight=torch.ones(4)),
        different("weight", "cpu", A, "wrapper_CUDA_nll_loss_forward"),
    ),
    "layer norm": (
        lambda: nn.LayerNorm(4)(on(A)),
        different("weight", "cpu", A, "wrapper_CUDA__native_layer_norm"),
    ),
    "batch norm in cuDNN": (
        lambda: nn.BatchNorm1d(3)(on(A, 2, 3, 4)),
        different("weight", "cpu", A, "wrapper_CUDA__cudnn_batch_norm"),
    ),
    "batch norm of vectors": (
        lambda: nn.BatchNorm1d(4)(on(A)),
        different("weight", "cpu", A, "wrapper_CUDA__native_batch_norm"),
    ),
    "convolution of one small cpu image": (
        lambda: nn.Conv2d(1, 1, 1).cuda()(on("cpu", 1, 1, 4, 4)),
        different("weight", A, "cpu", "wrapper_CUDA___slow_conv2d_forward"),
    ),
    "grid_sample": (
        lambda: F.grid_sample(on(A, 1, 1, 2, 2), on("cpu", 1, 2, 2, 2), align_corners=False),
        different("grid", "cpu", A, "wrapper_CUDA__grid_sampler_2d"),
    ),
    "lstm cell, state": (
        lambda: nn.LSTMCell(4, 4).cuda()(on(A), (on("cpu"), on("cpu"))),
        different("mat2", A, "cpu", "wrapper_CUDA_mm"),
    ),
    "sparse times dense": (
        lambda: torch.sparse.mm(on(A).to_sparse(), on("cpu", 4, 2)),
        different("mat1", A, "cpu", "wrapper_SparseCUDA__addmm"),
    ),
    "batch norm of a cpu input": (
        lambda: nn.BatchNorm1d(4).cuda()(on("cpu")),
        different("weight", A, "cpu", "wrapper_CUDA__native_batch_norm"),
    ),
    "rms norm": (
        lambda: nn.RMSNorm(4)(on(A)),
        different("weight", "cpu", A, "wrapper_CUDA___fused_rms_norm"),
    ),
    "convolution across GPUs": (
        lambda: nn.Conv1d(3, 2, 1).to(B)(on(A, 1, 3, 4)),
        different("weight", B, A, "wrapper_CUDA__cudnn_convolution"),
    ),
    "gather": (
        lambda: on(A).gather(1, torch.zeros(3, 1, dtype=torch.long)),
        different("index", "cpu", A, "wrapper_CUDA_gather"),
    ),
    "scatter": (
        lambda: on(A).scatter_(1, torch.zeros(3, 1, dtype=torch.long), 1.0),
        different("index", "cpu", A, "wrapper_CUDA_scatter__value"),
    ),
    "index_add": (
        lambda: on(A).index_add_(0, ids(A), on("cpu")),
        different("source", "cpu", A, "wrapper_CUDA_index_add_"),
    ),
    "index_select": (
        lambda: on("cpu").index_select(0, ids(A)),
        different("index", A, "cpu", "wrapper_CUDA__index_select"),
    ),
    "out= first": (
        lambda: torch.mm(on(A), on(A, 4, 3), out=torch.empty(3, 3)),
        different("self", A, "cpu", "wrapper_CUDA_mm_out_out"),
    ),
    "attention mask": (
        lambda: F.scaled_dot_product_attention(
            *(on(A, 1, 2, 3, 4),) * 3, attn_mask=on("cpu", 3, 3)
        ),
        different("attn_bias", "cpu", A, "wrapper_CUDA___scaled_dot_product_efficient_attention"),
    ),
}

ELEMENTWISE = {
    "add": (lambda: on(A) + on("cpu"), two_devices(A, "cpu")),
    "add, cpu first": (lambda: on("cpu") + on(A), two_devices(A, "cpu")),
    "add, two GPUs": (lambda: on(B) + on(A), two_devices(B, A)),
    "in place, the output first": (lambda: on(A).add_(on(B)), two_devices(A, B)),
    "in place on the cpu": (lambda: on("cpu").mul_(on(A)), two_devices(A, "cpu")),
    "compare": (lambda: on(A) == on("cpu"), two_devices(A, "cpu")),
    "where": (lambda: torch.where(on("cpu") > 0, on(A), on(A)), two_devices(A, "cpu")),
    "mse loss": (lambda: F.mse_loss(on(A), on("cpu")), two_devices(A, "cpu")),
    "smooth l1": (lambda: F.smooth_l1_loss(on(A), on(B)), two_devices(A, B)),
    "bce": (
        lambda: F.binary_cross_entropy_with_logits(on(A), on("cpu")),
        two_devices(A, "cpu"),
    ),
    "0-dim of another GPU": (lambda: on(A) + torch.tensor(1.0, device=B), two_devices(A, B)),
    "0-dim cpu tensor written to": (
        lambda: torch.tensor(1.0).add_(on(A, 1)[0]),
        two_devices(A, "cpu"),
    ),
    "out= elsewhere": (
        lambda: torch.add(on(A), on(A), out=torch.empty(3, 4)),
        two_devices(A, "cpu"),
    ),
    "foreach": (
        lambda: torch._foreach_add([on(A), on(B)], [on(A), on("cpu")]),
        two_devices(B, "cpu"),
    ),
    "index_put, values": (
        lambda: on(A).index_put_((ids(A),), on("cpu")),
        two_devices(A, "cpu"),
    ),
    "index_fill": (lambda: on(A).index_fill_(0, ids("cpu"), 1.0), two_devices(A, "cpu")),
}

OTHERS = {
    "index of a cpu tensor": (
        lambda: on("cpu")[ids(A)],
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "index from another GPU": (
        lambda: on(A)[ids(B)],
        "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)",
    ),
    "mask of a cpu tensor": (
        lambda: on("cpu")[on(A) > 0],
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "masked_fill": (
        lambda: on(A).masked_fill(on("cpu") > 0, 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "too many 0-dim cpu tensors": (
        lambda: torch.addcmul(on(A), torch.tensor(1.0), torch.tensor(2.0)),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    "convolution, model on the cpu": (
        lambda: nn.Conv2d(1, 1, 1)(on(A, 1, 1, 4, 4)),
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) "
        "should be the same",
    ),
    "convolution, half input": (
        lambda: nn.Conv2d(1, 1, 1).half()(on(A, 1, 1, 4, 4).half()),
        "Input type (torch.cuda.HalfTensor) and weight type (torch.HalfTensor) should be the same",
    ),
    "convolution of a cpu batch": (
        lambda: nn.Conv2d(1, 1, 3).cuda()(on("cpu", 20, 1, 4, 4)),
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the "
        "same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "attention": (
        lambda: F.scaled_dot_product_attention(on(A), on("cpu"), on("cpu")),
        "Expected query, key, and value to have the same device type, but got query.device: "
        "cuda:0 key.device: cpu and value.device: cpu instead.",
    ),
    "lstm, input": (
        lambda: nn.LSTM(4, 4).cuda()(on("cpu")),
        "Input and parameter tensors are not at the same device, "
        "found input tensor at cpu and parameter tensor at cuda:0",
    ),
    "gru, hidden": (
        lambda: nn.GRU(4, 4).cuda()(on(A), on("cpu", 1, 4)),
        "Input and hidden tensors are not at the same device, "
        "found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "stft, window": (
        lambda: torch.stft(on(A, 40), 10, window=torch.ones(10), return_complex=True),
        "stft input and window must be on the same device but got self on cuda:0 and window on cpu",
    ),
    "packed sequence, lengths": (
        lambda: nn.utils.rnn.pack_padded_sequence(on(A), torch.tensor([3, 3, 2, 1], device=A)),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    "generator of the cpu": (
        lambda: torch.randn(2, device="cuda", generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "generator of a GPU": (
        lambda: torch.randperm(4, generator=torch.Generator("cuda")),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    "in-place random numbers": (
        lambda: on(A).normal_(generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "foreach with a scalar tensor": (
        lambda: torch._foreach_mul_([on(A), on(A)], torch.tensor(2.0, device=B)),
        "scalar tensor expected to be on cuda:0 but is on cuda:1",
    ),
    "foreach with a tensor of scalars": (
        lambda: torch._foreach_addcmul_([on(A)], [on(A)], [on(A)], torch.ones(1, device=A)),
        "Expected scalars to be on CPU, got cuda:0 instead.",
    ),
    "pinning": (
        lambda: on(A).pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    "a gradient from elsewhere": (
        lambda: setattr(on(A).requires_grad_(), "grad", on("cpu")),
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type "
        "'cuda'. Please ensure that the gradient and the tensor are on the same device",
    ),
    "a gradient from another GPU": (
        lambda: setattr(on(A).requires_grad_(), "grad", on(B)),
        # torch prints the index as a character, and 0 ends a C string
        "attempting to assign a gradient located on device with index '\x01' to a tensor located "
        "on device with index '",
    ),
    "a meta tensor": (
        lambda: on(A) * torch.ones(4, device="meta"),
        "Tensor on device meta is not on the expected device cuda:0!",
    ),
}


@pytest.mark.parametrize("case", NAMED | ELEMENTWISE | OTHERS)
def test_fails_as_cuda_does(gpus: None, case: str) -> None:
    call, expected = (NAMED | ELEMENTWISE | OTHERS)[case]
    assert message(call) == expected


def test_old_wording_names_the_common_device_first(old_gpus: None) -> None:
    assert message(lambda: nn.Linear(4, 2).cuda()(on("cpu"))) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
    )
    assert message(lambda: on(A) + on("cpu")) == two_devices(A, "cpu")


def test_old_wording_has_no_fused_rms_norm(old_gpus: None) -> None:
    assert message(lambda: nn.RMSNorm(4)(on(A))) == two_devices(A, "cpu")


LEGAL: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "0-dim cpu tensor": (lambda: on(A) * torch.tensor(2.0), A),
    "0-dim cpu tensor first": (lambda: torch.tensor(2.0) - on(B), B),
    "Python number": (lambda: 1 - on(B), B),
    "cpu index": (lambda: on(A)[ids("cpu")], A),
    "cpu mask": (lambda: on(A)[on("cpu") > 0], A),
    "assign by GPU index to a cpu tensor": (lambda: _assigned(on("cpu"), ids(A), 1.0), "cpu"),
    "foreach with a 0-dim cpu tensor": (
        lambda: torch._foreach_mul([on(A), on(A)], torch.tensor(2.0))[1],
        A,
    ),
    "foreach with a tensor of scalars": (
        lambda: torch._foreach_addcdiv([on(A)], [on(A)], [on(A)], torch.ones(1))[0],
        A,
    ),
    "assign a cpu tensor to a row": (lambda: _assigned(on(A), 0, torch.zeros(4)), A),
    "assign by cpu mask": (lambda: _assigned(on(A), on("cpu") > 0, 0.0), A),
    "assign a 0-dim cpu tensor by index": (lambda: _assigned(on(A), ids(A), torch.tensor(0.0)), A),
    "where with numbers": (lambda: torch.where(on(A) > 0, on(A), 0.0), A),
    "where with two 0-dim cpu tensors": (
        lambda: torch.where(on(A) > 0, torch.tensor(1.0), torch.tensor(0.0)),
        A,
    ),
    "copy_ across devices": (lambda: on("cpu").copy_(on(A)), "cpu"),
    "copy_ to a GPU": (lambda: on(B).copy_(on(A)), B),
    "fill_ from another device": (lambda: on(A).fill_(torch.tensor(1.0, device=B)), A),
    "type_as": (lambda: on("cpu").type_as(on(B)), B),
    "dropout": (lambda: F.dropout2d(on(A, 2, 3, 4, 4)), A),
    "one_hot allocates in C++": (lambda: F.one_hot(ids(B)), B),
    "pad_sequence allocates in C++": (lambda: nn.utils.rnn.pad_sequence([on(B), on(B)]), B),
    "cosine similarity": (lambda: F.cosine_similarity(on(A), on(A)), A),
    "lstm": (lambda: nn.LSTM(4, 4).cuda()(on(A))[0], A),
    "einsum": (lambda: torch.einsum("ij,kj->ik", on(A), on(A)), A),
    "sparse": (lambda: on(A).to_sparse() @ on(A, 4, 2), A),
    "vmap": (lambda: torch.vmap(lambda row: row * 2)(on(B)), B),
    "new_zeros": (lambda: on(B).new_zeros(2), B),
    "new_tensor": (lambda: on(B).new_tensor([1.0]), B),
    "new_zeros elsewhere": (lambda: on(B).new_zeros(2, device="cpu"), "cpu"),
    "zeros_like": (lambda: torch.zeros_like(on(B)), B),
    "zeros_like elsewhere": (lambda: torch.zeros_like(on(B), device="cpu"), "cpu"),
    "tensor of a tensor": (lambda: torch.tensor(on(B).detach()), B),
    "as_tensor": (lambda: torch.as_tensor([1.0], device=B), B),
    "an index for a device": (lambda: torch.zeros(2, device=1), B),
    "no index": (lambda: torch.zeros(2, device="cuda"), A),
    "legacy constructor": (lambda: torch.cuda.FloatTensor([1.0]), A),
    "legacy cpu constructor": (lambda: torch.Tensor(2, 3), "cpu"),
    "ctc loss with lengths on the cpu": (
        lambda: F.ctc_loss(
            on(A, 5, 1, 3).log_softmax(2),
            torch.tensor([[1, 2]], device=A),
            torch.tensor([5]),
            torch.tensor([2]),
        ),
        A,
    ),
    "lazy module": (lambda: nn.LazyLinear(2).to(B)(on(B)), B),
    "half precision": (lambda: on(B).half(), B),
}


def _assigned(tensor: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    tensor[index] = value
    return tensor


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("case", LEGAL)
def test_passes_as_on_cuda(gpus: None, case: str) -> None:
    call, device = LEGAL[case]
    assert str(call().device) == device


def test_legacy_cpu_memory_is_not_taken_for_gpu_memory(gpus: None) -> None:
    made = torch.Tensor(3, 4)
    assert message(lambda: made + on(A)) == two_devices(A, "cpu")


def test_values_are_those_of_the_cpu() -> None:
    torch.manual_seed(0)
    model, data = nn.Linear(4, 2), torch.randn(3, 4)
    expected = model(data)
    with simulated_gpus(1):
        result = model.cuda()(data.cuda())
        assert torch.equal(result.cpu(), expected)


@pytest.mark.parametrize("inference", [True, False])
def test_inference_mode_checks_too(gpus: None, inference: bool) -> None:
    model = nn.Linear(4, 2).cuda()
    with torch.inference_mode(inference):
        assert model(on(A)).is_cuda
        assert "mat1 is on cpu" in message(lambda: model(on("cpu")))
