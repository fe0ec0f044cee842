"""A model looks for its placeholder token by a tensor of one number, while a CUDA graph is captured.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the copy,
``python reproduce.py fixed`` fills the number in on the GPU and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

IMAGE_TOKEN_ID = 7


class MultimodalModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(32, 8, device="cuda")

    def get_placeholder_mask(self, inputs_embeds, variant):
        device = inputs_embeds.device
        if variant == "fixed":
            token = torch.full((), IMAGE_TOKEN_ID, dtype=torch.long, device=device)
        else:
            token = torch.tensor(IMAGE_TOKEN_ID, dtype=torch.long, device=device)
        return (inputs_embeds == self.embed_tokens(token)).all(-1)

    def forward(self, inputs_embeds, image_features, variant):
        mask = self.get_placeholder_mask(inputs_embeds, variant).unsqueeze(-1)
        return torch.where(mask, image_features, inputs_embeds)


def main(variant):
    model = MultimodalModel()
    inputs_embeds = model.embed_tokens(torch.arange(6, 10, device="cuda"))
    image_features = torch.ones(8, device="cuda")
    with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        model(inputs_embeds.detach(), image_features, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
