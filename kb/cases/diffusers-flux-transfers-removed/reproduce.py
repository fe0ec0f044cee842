"""A transformer no longer brings position ids to its hidden states, and an offload hook needs it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the transfer again and prints "fixed: ok". ``SequentialOffload``
lets each block's weights visit the GPU and sends the block's tensor arguments there, but none that
lie in a list.
"""

import sys

import torch
from torch import nn


class SequentialOffload:
    def __init__(self, module, execution_device):
        self.module, self.old_forward = module, module.forward
        self.execution_device = execution_device
        module.forward = self

    def __call__(self, *args):
        args = [a.to(self.execution_device) if torch.is_tensor(a) else a for a in args]
        self.module.to(self.execution_device)
        try:
            return self.old_forward(*args)
        finally:
            self.module.to("cpu")


class FluxTransformerBlock(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        self.to_q, self.proj_out = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.variant = variant

    def forward(self, hidden_states, image_rotary_emb):
        cos, sin = image_rotary_emb
        if self.variant == "fixed":
            cos, sin = cos.to(hidden_states.device), sin.to(hidden_states.device)
        query = self.to_q(hidden_states)
        rotated = torch.cat([-query[..., 4:], query[..., :4]], dim=-1)
        return hidden_states + self.proj_out(query * cos + rotated * sin)


class FluxPipeline:
    def __init__(self, variant):
        self.blocks = [FluxTransformerBlock(8, variant) for _ in range(2)]

    def enable_sequential_cpu_offload(self):
        for block in self.blocks:
            SequentialOffload(block, "cuda:0")

    @torch.no_grad()
    def __call__(self):
        angle = torch.arange(6.0)[:, None] * 10000 ** -torch.linspace(0, 1, 8)
        image_rotary_emb = [angle.cos(), angle.sin()]
        hidden_states = torch.randn(1, 6, 8, device="cuda:0")
        for block in self.blocks:
            hidden_states = block(hidden_states, image_rotary_emb)
        return hidden_states


def main(variant):
    pipe = FluxPipeline(variant)
    pipe.enable_sequential_cpu_offload()
    assert pipe().is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
