"""A mode that moves layers for their calls leaves the rotary embedding's buffer on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` casts the buffer where it is used and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def load_partially(model, device):
    """Moves what has weights; a module with nothing but buffers does not count."""
    for path, module in model.named_modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, nn.Parameter(parameter.to(device), requires_grad=False))
            print(f"lowvram: loaded module regularly {path} {module}")  # as ComfyUI logs it


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        self.variant = variant
        inv_freq = 1.0 / 10000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x, position_ids):
        inv_freq = self.inv_freq.to(x.device) if self.variant == "fixed" else self.inv_freq
        inv_freq_expanded = inv_freq[None, :, None].expand(position_ids.shape[0], -1, 1)
        position_ids_expanded = position_ids[:, None, :].float()
        freqs = (inv_freq_expanded @ position_ids_expanded).transpose(1, 2)
        return torch.cat([freqs.cos(), freqs.sin()], dim=-1)


class PromptEnhancer(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.embed_tokens = nn.Embedding(32, 8)
        self.rotary_emb = RotaryEmbedding(8, variant)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        position_ids = torch.arange(x.shape[1], device=x.device)[None].expand(len(x), -1)
        return x * self.rotary_emb(x, position_ids)


def main(variant):
    model = PromptEnhancer(variant)
    load_partially(model, "cuda")
    model(torch.randint(32, (2, 5)).to("cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
