"""A device map that offloads the layers has no entry for the rotary embedding of the whole model.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` adds the entry and prints "fixed: ok". accelerate refuses such a map
nowadays, so the layers' hooks are attached one by one, as the program did.
"""

import sys

import torch
from accelerate import cpu_offload
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        exponents = torch.arange(0, dim, 2) / dim
        self.register_buffer("inv_freq", 1.0 / 10000**exponents, persistent=False)

    def forward(self, x, position_ids):
        frequencies = self.inv_freq.expand(len(position_ids), 1, -1).mT
        return torch.bmm(frequencies, position_ids[:, None].to(x.dtype)).mT.repeat(1, 1, 2).cos()


class LlamaModel(nn.Module):
    def __init__(self, vocab_size=16, width=8, layers=3):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.rotary_emb = RotaryEmbedding(width)

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids)
        position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        cos = self.rotary_emb(hidden, position_ids)
        for layer in self.layers:
            hidden = layer(hidden * cos)
        return self.norm(hidden)


def load_offloaded_model(variant, device="cuda:0"):
    model = LlamaModel()
    device_map = {"embed_tokens": device, "norm": device}
    device_map |= {f"layers.{i}": "cpu" for i in range(len(model.layers))}
    if variant == "fixed":
        device_map["rotary_emb"] = device
    for name, place in device_map.items():
        module = model.get_submodule(name)
        if place == "cpu":
            cpu_offload(module, execution_device=torch.device(device))
        else:
            module.to(place)
    return model


def main(variant):
    torch.manual_seed(0)
    model = load_offloaded_model(variant)
    with torch.no_grad():
        model(torch.randint(16, (1, 5)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
