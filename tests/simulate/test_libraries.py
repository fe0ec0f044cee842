"""Libraries on simulated GPUs: accelerate, transformers, peft."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from diagnose.simulation import simulated_gpus

A = torch.device("cuda", 0)
B = torch.device("cuda", 1)


class TwoLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(data))


def test_dispatch_model(gpus: None) -> None:
    accelerate = pytest.importorskip("accelerate")
    model = accelerate.dispatch_model(TwoLayers(), {"first": 0, "second": 1}, main_device=0)
    assert (model.first.weight.device, model.second.weight.device) == (A, B)
    data = torch.ones(2, 4, device=A)
    assert model(data).device == A, "the hooks bring the output back"
    with pytest.raises(
        RuntimeError, match="mat1 is on cuda:0, different from other tensors on cuda:1"
    ):
        nn.functional.linear(data, model.second.weight, model.second.bias)


def test_infer_auto_device_map(gpus: None) -> None:
    accelerate = pytest.importorskip("accelerate")
    found = accelerate.infer_auto_device_map(TwoLayers(), max_memory={0: 100, 1: 10_000})
    assert found == {"first": 0, "second": 1} or set(found.values()) <= {0, 1}


def test_transformers_generation_and_peft() -> None:
    transformers = pytest.importorskip("transformers")
    peft = pytest.importorskip("peft")
    config = transformers.GPT2Config(
        vocab_size=40, n_positions=16, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=1
    )
    with simulated_gpus(1):
        model = transformers.GPT2LMHeadModel(config).cuda()
        ids = torch.ones(1, 3, dtype=torch.long, device="cuda")
        assert model.generate(ids, max_new_tokens=2, pad_token_id=1).device == A
        adapted = peft.get_peft_model(
            model, peft.LoraConfig(target_modules=["c_attn"], fan_in_fan_out=True)
        )
        loss = adapted(input_ids=ids, labels=ids).loss
        loss.backward()
        trained = [p for p in adapted.parameters() if p.requires_grad]
        assert trained
        assert all(p.grad is not None and p.grad.device == A for p in trained)
        with pytest.raises(RuntimeError, match=r"index is on cpu.*wrapper_CUDA__index_select"):
            adapted(input_ids=ids.cpu())
