"""A mask made of the ids selects between embeddings that live on another GPU.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the mask to the embeddings and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

IMAGE, AUDIO, PAD = 30, 31, 0
DEVICE_MAP = {"embed_tokens": 1, "per_layer_projection": 1, "vision": 0, "layers": 1}


class Gemma4(nn.Module):
    def __init__(self, variant, width=8, vocab_size=32, layers=2):
        super().__init__()
        self.variant, self.shape = variant, (layers, 4)
        self.vision = nn.Linear(12, width)
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.per_layer_projection = nn.Linear(width, layers * 4)
        self.layers = nn.ModuleList(nn.Linear(width + 4, width) for _ in range(layers))

    def placeholder_mask(self, input_ids):
        return (input_ids == IMAGE) | (input_ids == AUDIO)

    def forward(self, input_ids):
        mask = self.placeholder_mask(input_ids)
        text_ids = torch.where(mask, PAD, input_ids)
        embeds = self.embed_tokens(text_ids)
        pad = self.embed_tokens(torch.tensor([PAD], device=input_ids.device))
        if self.variant == "fixed":
            mask = mask.to(embeds.device)
        without_images = torch.where(mask[..., None], pad, embeds)
        per_layer = self.per_layer_projection(without_images).unflatten(-1, self.shape)
        for i, layer in enumerate(self.layers):
            embeds = embeds + layer(torch.cat([embeds, per_layer[..., i, :]], dim=-1))
        return embeds


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(Gemma4(variant), device_map=DEVICE_MAP, main_device=0)
    ids = torch.tensor([[5, 6, IMAGE, IMAGE, 7, AUDIO, 8]], device="cuda:0")
    with torch.no_grad():
        model(ids)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
