"""A quantizer moves the embedding and the first layer, and the rotary embedding is in neither.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves it as well and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        exponents = torch.arange(0, dim, 2) / dim
        self.register_buffer("inv_freq", 1.0 / 10000**exponents, persistent=False)

    def forward(self, x, position_ids):
        frequencies = self.inv_freq.expand(len(position_ids), 1, -1).mT
        angles = torch.bmm(frequencies, position_ids[:, None].to(x.dtype)).mT.repeat(1, 1, 2)
        return angles.cos(), angles.sin()


class DecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, hidden, position_embeddings):
        cos, sin = position_embeddings
        return self.proj(hidden * cos + hidden.roll(1, -1) * sin)


class LlamaModel(nn.Module):
    def __init__(self, vocab_size=32, width=8, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.ModuleList(DecoderLayer(width) for _ in range(layers))
        self.rotary_emb = RotaryEmbedding(width)

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids)
        position_ids = torch.arange(input_ids.shape[1], device=hidden.device)[None]
        position_embeddings = self.rotary_emb(hidden, position_ids)
        for layer in self.layers:
            hidden = layer(hidden, position_embeddings)
        return hidden


class Caught(Exception):
    pass


class Catcher(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.inputs = inputs

    def forward(self, *args):
        self.inputs.append(args)
        raise Caught


class AwqQuantizer:
    def __init__(self, model, variant):
        self.model, self.variant = model, variant

    def move_embed(self, device):
        self.model.embed_tokens.to(device)
        if self.variant == "fixed":
            self.model.rotary_emb.to(device)

    def init_quant(self, samples, device="cuda:0"):
        inputs, first = [], self.model.layers[0].to(device)
        self.move_embed(device)
        self.model.layers[0] = Catcher(inputs)
        try:
            self.model(samples.to(device))
        except Caught:
            self.model.layers[0] = first
        return inputs[0]

    def quantize(self, samples):
        hidden, position_embeddings = self.init_quant(samples)
        for layer in self.model.layers:
            hidden = layer.to(hidden.device)(hidden, position_embeddings)


def main(variant):
    torch.manual_seed(0)
    with torch.no_grad():
        AwqQuantizer(LlamaModel(), variant).quantize(torch.randint(32, (2, 6)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
