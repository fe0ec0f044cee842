"""A pipeline sends prompts where the first parameter of its text encoder is: in a part on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves the unused part on the GPU and prints "fixed: ok".
``TextEncoder`` has of its namesake a vision tower, which comes first, and an embedding.
"""

import sys

import torch
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision_tower = nn.Linear(8, 8)
        self.embed_tokens = nn.Embedding(32, 8)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, input_ids):
        return self.embed_tokens(input_ids)


def load(variant):
    text_encoder = TextEncoder().to("cuda")
    if variant == "failing":
        text_encoder.vision_tower.to("cpu")  # nothing here looks at images
    return text_encoder


def encode_prompt(text_encoder, input_ids):
    return text_encoder(input_ids.to(text_encoder.device))


def main(variant):
    text_encoder = load(variant)
    print(encode_prompt(text_encoder, torch.arange(6)).shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
