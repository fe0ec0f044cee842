"""A rank that builds on meta casts a computed buffer, and rank 0's bytes no longer fit into it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an AssertionError that counts the
NaN, ``python reproduce.py fixed`` leaves that buffer in float32 and prints "fixed: ok". One process
plays two ranks; ``broadcast`` copies bytes and looks at no dtype, as a collective does.
"""

import sys

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim=128, base=1_000_000.0):
        super().__init__()
        exponents = torch.arange(0, dim, 2, dtype=torch.float32) / dim
        self.register_buffer("inv_freq", 1.0 / base**exponents, persistent=False)


class RefModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary_emb = RotaryEmbedding()
        self.lm_head = nn.Linear(128, 32)

    def log_probs(self, length):
        inv_freq = self.rotary_emb.inv_freq
        angles = torch.arange(length, device=inv_freq.device)[:, None] * inv_freq.float()
        hidden = torch.cat([angles.cos(), angles.sin()], dim=-1)
        return self.lm_head(hidden.to(self.lm_head.weight.dtype)).float().log_softmax(-1)


def broadcast(source, target):
    size = min(source.nbytes, target.nbytes)
    target.view(torch.uint8)[:size] = source.view(torch.uint8)[:size]


def init_worker(rank, rank0_model, variant):
    if rank == 0:
        return rank0_model
    with torch.device("meta"):
        model = RefModel()
    if variant == "failing":
        model.to(torch.bfloat16)
    else:
        for parameter in model.parameters():
            parameter.data = parameter.data.to(torch.bfloat16)
    model.to_empty(device="cuda")
    model.load_state_dict(rank0_model.state_dict())
    broadcast(rank0_model.rotary_emb.inv_freq, model.rotary_emb.inv_freq)
    return model


def main(variant):
    torch.manual_seed(0)
    rank0_model = RefModel().to("cuda")
    rank0_model.lm_head.to(torch.bfloat16)
    for rank in range(2):
        log_probs = init_worker(rank, rank0_model, variant).log_probs(length=4)
        n_nan = int(log_probs.isnan().any(-1).sum())
        assert n_nan == 0, (
            f"rank {rank}: {n_nan} of 4 log-probabilities are NaN, no error was raised"
        )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
