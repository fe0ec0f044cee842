"""A model's first parameter is on the GPU already, and the offloading hook takes all for moved.

Needs torch, accelerate (1.10 or later) and one GPU. ``python reproduce.py failing`` ends in the
device error, ``python reproduce.py fixed`` asks every parameter and prints "fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload_with_hook
from torch import nn


class SemanticModel(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.input_embeds_layer = nn.Embedding(vocab_size, width)
        self.position_embeds_layer = nn.Embedding(64, width)
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width))
        self.lm_head = nn.Linear(width, vocab_size, bias=False)

    def forward(self, input_embeds):
        position_ids = torch.arange(input_embeds.shape[1], device=input_embeds.device)
        hidden = input_embeds + self.position_embeds_layer(position_ids)
        return self.lm_head(self.layers(hidden))


class Bark:
    def __init__(self, variant):
        self.variant = variant
        self.semantic = SemanticModel()

    def enable_cpu_offload(self, device):
        # Called outside of the sub-model's forward, so it has a hook of its own.
        cpu_offload_with_hook(self.semantic.input_embeds_layer, device)
        cpu_offload_with_hook(self.semantic, device)

    @torch.no_grad()
    def generate(self, input_ids, history):
        embed = self.semantic.input_embeds_layer
        input_embeds = embed(input_ids) + embed(history)
        if self.variant == "fixed" and self.semantic.lm_head.weight.device != input_embeds.device:
            self.semantic.to(input_embeds.device)
        return self.semantic(input_embeds).argmax(-1)


def main(variant):
    torch.manual_seed(0)
    model = Bark(variant)
    model.enable_cpu_offload(torch.device("cuda:0"))
    ids = torch.randint(32, (1, 6), device="cuda:0")
    model.generate(ids, torch.full_like(ids, 31))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
