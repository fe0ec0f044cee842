"""Offloaded parameters are gathered for each forward, a rotary module's buffer stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the frequencies to x's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

SECTIONS = [2, 1, 1]  # frequencies of time, height and width


class TextRotaryEmbedding(nn.Module):
    def __init__(self, variant, dim=8, base=10_000_000.0):
        super().__init__()
        self.variant = variant
        inv_freq = base ** -(torch.arange(0, dim, 2, dtype=torch.float) / dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    @torch.no_grad()
    def forward(self, x, position_ids):
        inv_freq = self.inv_freq[None, None, :, None]
        if self.variant == "fixed":
            inv_freq = inv_freq.to(x.device)
        inv_freq = inv_freq.expand(3, position_ids.shape[1], -1, 1)
        freqs = (inv_freq @ position_ids[:, :, None, :].float()).transpose(2, 3)
        parts = freqs.split(SECTIONS, dim=-1)
        freqs = torch.cat([part[i] for i, part in enumerate(parts)], dim=-1)
        emb = torch.cat([freqs, freqs], dim=-1)
        return emb.cos().to(x.dtype), emb.sin().to(x.dtype)


class TextModel(nn.Module):
    def __init__(self, variant, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(16, width)
        self.rotary_emb = TextRotaryEmbedding(variant, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids)
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        cos, sin = self.rotary_emb(hidden, positions.expand(3, len(input_ids), -1))
        first, second = hidden.chunk(2, dim=-1)
        return self.norm(hidden * cos + torch.cat([-second, first], dim=-1) * sin)


def fully_shard(model):
    """Of FSDP2's cpu offload: parameters rest on the cpu and are on the GPU for their forward."""

    def move_to(device):
        def hook(module, *_):
            for parameter in module.parameters():
                parameter.data = parameter.data.to(device)

        return hook

    for module in model.children():
        module.register_forward_pre_hook(move_to("cuda:0"))
        module.register_forward_hook(move_to("cpu"))
    return model


def main(variant):
    torch.manual_seed(0)
    model = fully_shard(TextModel(variant))
    with torch.no_grad():
        model(torch.randint(16, (2, 5), device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
