"""A map computed from sizes separates two tables whose outputs are added.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives the first GPU a larger share and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model, infer_auto_device_map
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, hidden):
        return hidden + torch.tanh(self.fc(hidden))


class WhisperDecoder(nn.Module):
    def __init__(self, vocab_size, width=16, positions=40):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.embed_positions = nn.Embedding(positions, width)
        self.layers = nn.Sequential(*(DecoderLayer(width) for _ in range(2)))

    def forward(self, input_ids):
        inputs_embeds = self.embed_tokens(input_ids)
        where = torch.arange(input_ids.shape[1], device=input_ids.device)
        positions = self.embed_positions(where)
        return self.layers(inputs_embeds + positions)


def split(model, share):
    total = sum(p.numel() * p.element_size() for p in model.parameters())
    memory = {0: int(share * total), 1: total}
    device_map = infer_auto_device_map(model, memory, no_split_module_classes=["DecoderLayer"])
    print(device_map)
    return dispatch_model(model, device_map)


def main(variant):
    torch.manual_seed(0)
    share = 0.85 if variant == "failing" else 0.97
    model = split(WhisperDecoder(vocab_size=200), share)
    with torch.no_grad():
        model(torch.randint(200, (2, 5)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
