"""Ranks that build the model on meta get the parameters of rank 0, but not its computed buffer.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an AssertionError that counts the
NaN, ``python reproduce.py fixed`` computes the buffer on each rank and prints "fixed: ok". One
process plays two ranks, and copying the state dict plays the broadcast. torch fills uninitialised
memory with NaN here, so that the outcome is always the same.
"""

import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS wants it where this is strict

import torch
from torch import nn


def inverse_frequencies(device=None):
    return 1.0 / 10000 ** (torch.arange(0, 8, 2, device=device) / 8)


class RefModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", inverse_frequencies(), persistent=False)
        self.lm_head = nn.Linear(8, 32)

    def log_probs(self, length):
        angles = torch.arange(length, device=self.inv_freq.device)[:, None] * self.inv_freq
        hidden = torch.cat([angles.cos(), angles.sin()], dim=-1)
        return self.lm_head(hidden).log_softmax(-1)


def init_worker(rank, rank0_model, variant):
    if rank == 0:
        return rank0_model
    with torch.device("meta"):
        model = RefModel()
    model.to_empty(device="cuda")
    model.load_state_dict(rank0_model.state_dict())
    if variant == "fixed":
        model.inv_freq = inverse_frequencies(device="cuda")
    return model


def main(variant):
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    rank0_model = RefModel().to("cuda")
    for rank in range(2):
        log_probs = init_worker(rank, rank0_model, variant).log_probs(length=4)
        n_nan = int(log_probs.isnan().any(-1).sum())
        assert n_nan == 0, (
            f"rank {rank}: {n_nan} of 4 log-probabilities are NaN, no error was raised"
        )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
