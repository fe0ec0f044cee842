"""A checkpointed model is computed again in backward, when an offload hook has parked a part of it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the time embedding to the block and prints "fixed: ok".
The time embedder belongs to the group that is on the GPU during the model's own call only.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class TimeEmbedder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear_1 = nn.Linear(1, 3 * dim)

    def forward(self, timestep):
        return self.linear_1(timestep.to(self.linear_1.weight.device)).unflatten(-1, (3, -1))


class WanTransformerBlock(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        self.scale_shift_table = nn.Parameter(torch.randn(1, 3, dim) * 0.1)
        self.ffn = nn.Linear(dim, dim)
        self.variant = variant

    def forward(self, hidden_states, temb):
        if self.variant == "fixed":
            temb = temb.to(self.scale_shift_table.device)
        shift, scale, gate = (self.scale_shift_table + temb.float()).unbind(1)
        return hidden_states + gate * self.ffn(hidden_states * (1 + scale) + shift)


class WanTransformer3DModel(nn.Module):
    def __init__(self, variant, dim=8):
        super().__init__()
        self.condition_embedder = TimeEmbedder(dim)
        self.blocks = nn.ModuleList([WanTransformerBlock(dim, variant) for _ in range(2)])

    def _forward(self, hidden_states, timestep):
        temb = self.condition_embedder(timestep)
        for block in self.blocks:
            hidden_states = block(hidden_states, temb)
        return hidden_states

    def forward(self, hidden_states, timestep):
        return checkpoint(self._forward, hidden_states, timestep, use_reentrant=True)


def enable_group_offload(model, device):
    group = model.condition_embedder
    model.register_forward_pre_hook(lambda m, args: group.to(device) and None)
    model.register_forward_hook(lambda m, args, out: group.to("cpu") and None)
    model.blocks.to(device)


def main(variant):
    transformer = WanTransformer3DModel(variant)
    enable_group_offload(transformer, "cuda:0")
    latents = torch.randn(2, 8, device="cuda:0", requires_grad=True)
    transformer(latents, torch.rand(2, 1, device="cuda:0")).pow(2).mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
