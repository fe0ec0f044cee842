"""A low-VRAM mode casts weights and biases of layers, and not a table that a module adds.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` casts the table where it is used and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import linear


class CastLinear(nn.Linear):
    """A layer of the low-VRAM mode: kept on the cpu, cast to the input's device when it runs."""

    def forward(self, x):
        return linear(x, self.weight.to(x.device), self.bias.to(x.device))


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len, variant):
        super().__init__()
        self.variant = variant
        self.register_buffer("pe", torch.randn(1, max_len, d_model))

    def forward(self, x):
        pe = self.pe[:, : x.size(1)]
        if self.variant == "fixed":
            pe = pe.to(x.device)
        return x + pe


class VanillaTemporalModule(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.pos_encoder = PositionalEncoding(8, 24, variant)
        self.to_q = CastLinear(8, 8)

    def forward(self, hidden_states):
        return self.to_q(self.pos_encoder(hidden_states))


def main(variant):
    print("loading in lowvram mode 64.0")  # as ComfyUI logs it
    motion_module = VanillaTemporalModule(variant)
    latents = torch.randn(2, 16, 8, device="cuda")
    with torch.no_grad():
        motion_module(latents)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
