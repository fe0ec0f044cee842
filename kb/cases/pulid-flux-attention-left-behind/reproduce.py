"""A replaced forward calls layers of another model, which nobody has moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the layer that is called to the device and prints "fixed: ok".
``load_models_gpu`` moves what the program has been told of.
"""

import sys

import torch
from torch import nn


class PerceiverAttentionCA(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_q, self.to_kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)

    def forward(self, embedding, img):
        q = self.to_q(img)
        k, v = self.to_kv(embedding).chunk(2, dim=-1)
        return (q @ k.mT).softmax(-1) @ v


class PulidFluxModel(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.pulid_ca = nn.ModuleList([PerceiverAttentionCA(dim) for _ in range(layers)])


class Flux(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.double_blocks = nn.ModuleList([nn.Linear(dim, dim) for _ in range(depth)])


def forward_orig(flux, pulid, img, node_data, variant):
    for ca_idx, block in enumerate(flux.double_blocks):
        img = img + block(img)
        layer = pulid.pulid_ca[ca_idx]
        if variant == "fixed":
            layer = layer.to(img.device)
        img = img + node_data["weight"] * layer(node_data["embedding"], img)
    return img


def load_models_gpu(models, device):
    for model in models:
        model.to(device)


def main(variant):
    torch.manual_seed(0)
    flux, pulid = Flux(8, depth=2), PulidFluxModel(8, layers=2)
    load_models_gpu([flux], "cuda:0")
    node_data = {"weight": 0.8, "embedding": torch.randn(1, 4, 8, device="cuda:0")}
    with torch.no_grad():
        forward_orig(flux, pulid, torch.randn(1, 6, 8, device="cuda:0"), node_data, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
