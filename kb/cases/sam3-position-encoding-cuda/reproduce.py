"""A model fills caches on "cuda" while it is built and is then used on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` fills them on the cpu, brings an entry to its input, and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn


class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats, precompute_size, variant):
        super().__init__()
        self.num_pos_feats, self.variant = num_pos_feats, variant
        self.cache = {}
        device = "cuda" if variant == "failing" else "cpu"
        self(torch.zeros((1, 1, precompute_size, precompute_size), device=device))

    def forward(self, x):
        size = tuple(x.shape[-2:])
        if size not in self.cache:
            y = torch.arange(size[0], dtype=torch.float32, device=x.device)[:, None]
            frequency = torch.arange(self.num_pos_feats, device=x.device) + 1
            table = (y[..., None] / frequency).sin().expand(*size, -1)
            self.cache[size] = table.permute(2, 0, 1)
        cached = self.cache[size]
        return cached.to(x.device) if self.variant == "fixed" else cached


class Sam3ImageModel(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.trunk = nn.Conv2d(3, 8, 4, stride=4)
        self.position_encoding = PositionEmbeddingSine(8, precompute_size=4, variant=variant)

    def forward(self, image):
        features = self.trunk(image)
        return features + self.position_encoding(features)


def main(variant):
    chosen = "cpu"
    model = Sam3ImageModel(variant).to(chosen).eval()
    with torch.no_grad():
        features = model(torch.rand(1, 3, 16, 16, device=chosen))
    assert features.device.type == "cpu"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
