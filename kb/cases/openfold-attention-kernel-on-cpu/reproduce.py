"""A model whose attention is a CUDA extension is run on the cpu.

Needs torch, OpenFold's compiled ``attn_core_inplace_cuda`` (simulated GPUs bring it) and one GPU.
``python reproduce.py failing`` ends in the extension's error, ``python reproduce.py fixed`` moves model and
features and prints "fixed: ok".
"""

import sys
from importlib import import_module

import torch
from torch import nn

attn_core_inplace_cuda = import_module("attn_core_inplace_cuda")


def attention_core(q, k, v, bias):
    logits = q @ k.transpose(-1, -2) + bias
    attn_core_inplace_cuda.forward_(logits, logits.shape[:-1].numel(), logits.shape[-1])
    return logits @ v


class TriangleAttention(nn.Module):
    def __init__(self, c_z):
        super().__init__()
        self.linear_qk = nn.Linear(c_z, 2 * c_z, bias=False)
        self.linear_v = nn.Linear(c_z, c_z, bias=False)
        self.linear_z = nn.Linear(c_z, 1, bias=False)

    def forward(self, z):
        q, k = self.linear_qk(z).chunk(2, dim=-1)
        bias = self.linear_z(z).squeeze(-1)
        return z + attention_core(q, k, self.linear_v(z), bias)


class AlphaFold(nn.Module):
    def __init__(self, c_z=8, no_blocks=2):
        super().__init__()
        self.pair_stack = nn.ModuleList(TriangleAttention(c_z) for _ in range(no_blocks))

    def forward(self, feats):
        z = feats["pair"]
        for block in self.pair_stack:
            z = block(z)
        return z


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda" if variant == "fixed" else "cpu")
    model = AlphaFold().to(device)
    processed_feature_dict = {"pair": torch.randn(5, 5, 8, device=device)}
    model(processed_feature_dict)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
