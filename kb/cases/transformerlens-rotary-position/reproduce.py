"""Positions counted from a mask on the first GPU index rotary tables on the second.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the mask to the block's GPU and prints "fixed: ok".
As in TransformerLens with n_devices=2: the residual stream is moved from block to block, the
attention mask is not.
"""

import sys

import torch
from torch import nn

DEVICES = ["cuda:0", "cuda:1"]


class Attention(nn.Module):
    def __init__(self, d_head, n_ctx):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(d_head, d_head))
        angles = torch.arange(n_ctx)[:, None] * torch.logspace(0, -2, d_head)
        self.register_buffer("rotary_cos", angles.cos())

    def apply_rotary(self, x, attention_mask):
        offset_position_ids = attention_mask.cumsum(dim=1).sub(1).clamp(min=0)
        mask_rotary_cos = self.rotary_cos[offset_position_ids, :]
        return x * mask_rotary_cos

    def forward(self, x, attention_mask):
        return self.apply_rotary(x @ self.W_Q, attention_mask)


class HookedTransformer(nn.Module):
    def __init__(self, d_model=8, n_ctx=16):
        super().__init__()
        self.blocks = nn.ModuleList(Attention(d_model, n_ctx).to(d) for d in DEVICES)

    def forward(self, residual, attention_mask, move_mask):
        for block, device in zip(self.blocks, DEVICES, strict=True):
            residual = residual.to(device)
            if move_mask:
                attention_mask = attention_mask.to(device)
            residual = residual + block(residual, attention_mask)
        return residual


def main(variant):
    torch.manual_seed(0)
    model = HookedTransformer()
    residual = torch.randn(2, 5, 8, device="cuda:0")
    attention_mask = torch.ones(2, 5, dtype=torch.long, device="cuda:0")
    model(residual, attention_mask, move_mask=variant == "fixed")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
