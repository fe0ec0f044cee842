"""A buffer that is computed, not stored, stays on meta when a file of parameters is bound.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` computes the buffer anew and prints "fixed: ok". torch.device("meta")
does what accelerate's init_empty_weights(include_buffers=True) does.
"""

import sys

import torch
from torch import nn


def rope_init_fn(dim, device=None):
    return 1.0 / 10000 ** (torch.arange(0, dim, 2, device=device) / dim)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.register_buffer("inv_freq", rope_init_fn(dim), persistent=False)

    def forward(self, x):
        angles = torch.arange(x.shape[1], device=x.device)[:, None] * self.inv_freq.to(x.device)
        return x * torch.cat([angles.cos(), angles.sin()], dim=-1)


class TextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary_emb = RotaryEmbedding(8)
        self.q_proj = nn.Linear(8, 8)

    def forward(self, x):
        return self.q_proj(self.rotary_emb(x))


def load_llada2_gguf_encoder(weights, device, variant):
    with torch.device("meta"):
        model = TextEncoder()
    model.load_state_dict({k: v.to(device) for k, v in weights.items()}, assign=True)
    if variant == "fixed":
        rotary = model.rotary_emb
        rotary.inv_freq = rope_init_fn(rotary.dim, device=device)
    return model.eval()


def main(variant):
    device = torch.device("cuda:0")
    weights = TextEncoder().state_dict()
    model = load_llada2_gguf_encoder(weights, device, variant)
    model(torch.randn(1, 5, 8, device=device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
