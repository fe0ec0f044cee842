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
    def __init__(self, embed_dim=8, height=70, width=70):
        super().__init__()
        self.embed_dim = embed_dim
        self.project = nn.Linear(12, embed_dim, device="cuda")
        self.tabulate(height, width)

    def tabulate(self, height, width, device="cpu"):
        table = sincos_pos_embed(self.embed_dim, height, width, device)
        self.register_buffer("table", table, persistent=False)

    def forward(self, patches, height, width, variant):
        rows, columns = self.table.shape[:2]
        if height > rows or width > columns:  # the table is made anew, where the input is
            self.tabulate(height, width, patches.device)
        x = self.project(patches)
        like_x = (
            {"dtype": x.dtype} if variant == "failing" else {"dtype": x.dtype, "device": x.device}
        )
        return x + self.table[:height, :width].flatten(0, 1).to(**like_x)


def main(variant):
    torch.manual_seed(0)
    resampler = Resampler()
    patches = torch.randn(1, 4 * 6, 12, device="cuda")
    with torch.no_grad():
        resampler(patches, 4, 6, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
