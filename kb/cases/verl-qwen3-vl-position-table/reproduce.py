"""Indices are made where a weight is stored, and an offloaded weight computes elsewhere.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them beside the input and prints "fixed: ok". ``offloaded`` does
what FSDP's CPU offload does: a part's parameters are on the GPU during its own forward only.
"""

import sys

import torch
from torch import nn


def offloaded(module, compute="cuda:0"):
    def unshard(module, args):
        for parameter in module.parameters():
            parameter.data = parameter.data.to(compute)

    def reshard(module, args, output):
        for parameter in module.parameters():
            parameter.data = parameter.data.to("cpu")

    module.register_forward_pre_hook(unshard)
    module.register_forward_hook(reshard)
    return module


class Qwen3VLVisionModel(nn.Module):
    def __init__(self, variant, side=4, width=8):
        super().__init__()
        self.side, self.variant = side, variant
        self.patch_embed = offloaded(nn.Linear(12, width))
        self.pos_embed = offloaded(nn.Embedding(side * side, width))
        self.block = offloaded(nn.Linear(width, width))

    def fast_pos_embed_interpolate(self, grid_thw, device):
        embeds = []
        for t, h, w in grid_thw.tolist():
            rows = torch.linspace(0, self.side - 1, h, device=device)
            columns = torch.linspace(0, self.side - 1, w, device=device)
            low, part = rows.floor().long(), rows.frac()
            high = (low + 1).clamp(max=self.side - 1)
            at = columns.round().long()
            below = self.pos_embed(low[:, None] * self.side + at)
            above = self.pos_embed(high[:, None] * self.side + at)
            mixed = torch.lerp(below, above, part[:, None, None].to(below))
            embeds.append(mixed.flatten(0, 1).repeat(t, 1))
        return torch.cat(embeds)

    def forward(self, hidden_states, grid_thw):
        hidden_states = self.patch_embed(hidden_states)
        fixed = self.variant == "fixed"
        device = hidden_states.device if fixed else self.pos_embed.weight.device
        return self.block(hidden_states + self.fast_pos_embed_interpolate(grid_thw, device))


def main(variant):
    torch.manual_seed(0)
    visual = Qwen3VLVisionModel(variant)
    grid_thw = torch.tensor([[1, 2, 6], [1, 4, 4]])
    with torch.no_grad():
        visual(torch.randn(28, 12, device="cuda:0"), grid_thw)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
