"""A dispatched module is moved by hand, and its hook goes on sending inputs to the old GPU.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves it where the map put it and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "rotary_emb": 1, "layers.0": 0, "layers.1": 1, "norm": 1}


class RotaryEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("speeds", torch.logspace(0, -4, width)[None, :, None])

    def forward(self, positions):
        """The cosines, one row for each position: speeds times positions, for every batch."""
        return torch.bmm(self.speeds, positions[:, None].float()).mT.cos()


class DecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, hidden, cos):
        return self.proj(hidden * cos)


class Qwen2Model(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.rotary_emb = RotaryEmbedding(width)
        self.layers = nn.ModuleList(DecoderLayer(width) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids)
        positions = torch.arange(input_ids.shape[1], device=hidden.device)[None]
        cos = self.rotary_emb(positions)
        for layer in self.layers:
            hidden = layer(hidden, cos)
        return self.norm(hidden)


def move_embed(model, device, variant):
    model.embed_tokens = model.embed_tokens.to(device)
    if variant == "failing":
        model.rotary_emb = model.rotary_emb.to(device)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(Qwen2Model().eval(), device_map=DEVICE_MAP)
    move_embed(model, "cuda:0", variant)
    with torch.no_grad():
        model(torch.randint(32, (1, 6)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
