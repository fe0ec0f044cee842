"""A table of positions is made on the cpu in __init__, and forward changes its dtype only.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives the slice the input's device as well and prints "fixed: ok".
As in vLLM, parameters are made on the GPU at once and the model as a whole is never moved.
"""

import sys

import torch
from torch import nn


def sincos_pos_embed(embed_dim, height, width, device):
    rows = torch.arange(height, device=device)[:, None, None] / 10
    columns = torch.arange(width, device=device)[None, :, None] / 10
    omega = 1.0 / 100 ** (torch.arange(embed_dim // 2, device=device) / embed_dim)
    return torch.cat([(rows + 0 * columns) * omega, (columns + 0 * rows) * omega], -1).sin()


class Resampler(nn.Module):
    def __init__(self, embed_dim=8, max_size=(70, 70)):
        super().__init__()
        self.embed_dim = embed_dim
        self.kv_proj = nn.Linear(12, embed_dim, device="cuda")
        self._set_2d_pos_cache(max_size)

    def _set_2d_pos_cache(self, max_size, device="cpu"):
        self.max_size = max_size
        table = sincos_pos_embed(self.embed_dim, *max_size, device)
        self.register_buffer("pos_embed", table, persistent=False)

    def _adjust_pos_cache(self, tgt_size, device):
        if tgt_size[0] > self.max_size[0] or tgt_size[1] > self.max_size[1]:
            self._set_2d_pos_cache(tgt_size, device)

    def forward(self, x, tgt_size, variant):
        self._adjust_pos_cache(tgt_size, device=x.device)
        x = self.kv_proj(x)
        height, width = tgt_size
        pos_embed = self.pos_embed[:height, :width].reshape(height * width, -1)
        if variant == "failing":
            pos_embed = pos_embed.to(x.dtype)
        else:
            pos_embed = pos_embed.to(device=x.device, dtype=x.dtype)
        return x + pos_embed


def main(variant):
    torch.manual_seed(0)
    resampler = Resampler()
    patches = torch.randn(1, 4 * 6, 12, device="cuda")
    with torch.no_grad():
        resampler(patches, (4, 6), variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
