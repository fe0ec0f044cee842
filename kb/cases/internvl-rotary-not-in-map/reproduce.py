"""A hand-made device map names every layer but not the rotary embedding, which stays on the cpu.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives it a place in the map and prints "fixed: ok".
accelerate demands a place for every parameter; the rotary embedding has none, only a buffer that is
not saved with the model.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


class Qwen2RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        inv_freq = torch.logspace(0, -2, dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, position_ids):
        frequencies = self.inv_freq.view(1, -1, 1).repeat(len(position_ids), 1, 1)
        angles = torch.bmm(frequencies, position_ids.unsqueeze(1).float())
        return angles.mT.cos()


class LanguageModel(nn.Module):
    def __init__(self, dim=8, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(16, dim)
        self.rotary_emb = Qwen2RotaryEmbedding(dim)
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        cos = self.rotary_emb(positions)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return hidden_states * cos.to(hidden_states.device)


def split_model(with_rotary):
    device_map = {"embed_tokens": 0, "layers.0": 0, "layers.1": 1}
    if with_rotary:
        device_map["rotary_emb"] = 0
    return device_map


def main(variant):
    torch.manual_seed(0)
    device_map = split_model(with_rotary=variant == "fixed")
    model = dispatch_model(LanguageModel().eval(), device_map=device_map)
    model(torch.randint(16, (1, 5)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
