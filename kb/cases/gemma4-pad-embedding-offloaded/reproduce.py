"""A weight is read while accelerate keeps a placeholder on meta in its place.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` calls the embedding and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

PAD = 0


class Gemma4Model(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.embed_tokens = nn.Embedding(32, 8)
        self.layer = nn.Linear(8, 8)

    def forward(self, input_ids):
        embeds = self.embed_tokens(input_ids)
        if self.variant == "fixed":
            # The call goes through the hook, which brings the weight.
            pad_embedding = self.embed_tokens(torch.full_like(input_ids[:1, :1], PAD))[0, 0]
        else:
            pad_embedding = self.embed_tokens.weight[PAD, :]
        is_image = (input_ids == 31)[..., None]
        embeds = torch.where(is_image, pad_embedding, embeds)
        return self.layer(embeds)


def main(variant):
    device_map = {"embed_tokens": "cpu", "layer": 0}
    model = dispatch_model(Gemma4Model(variant), device_map=device_map, main_device=0)
    input_ids = torch.tensor([[3, 31, 5]], device="cuda:0")
    with torch.no_grad():
        model(input_ids)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
