"""Replicas of a detector share a cache of anchors whose key does not name the device.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` adds the device to the key and prints "fixed: ok". A first image
fills the cache on the first GPU, then a batch goes to both.
"""

import sys

import torch
from torch import nn


class AnchorGenerator(nn.Module):
    def __init__(self, size, variant):
        super().__init__()
        self.size, self.variant = size, variant
        self._cache = {}

    def grid_anchors(self, grid_size, device):
        rows, columns = (torch.arange(n, device=device) * 4.0 for n in grid_size)
        y, x = torch.meshgrid(rows, columns, indexing="ij")
        centres = torch.stack([x, y], dim=-1).flatten(0, 1)
        return torch.cat([centres - self.size / 2, centres + self.size / 2], dim=1)

    def cached_grid_anchors(self, grid_size, device):
        key = tuple(grid_size)
        if self.variant == "fixed":
            key += (str(device),)
        if key not in self._cache:
            self._cache[key] = self.grid_anchors(grid_size, device)
        return self._cache[key]

    def forward(self, feature_map):
        return self.cached_grid_anchors(feature_map.shape[-2:], feature_map.device)


class RegionProposalNetwork(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 4, stride=4)
        self.bbox_pred = nn.Conv2d(8, 4, 1)
        self.anchor_generator = AnchorGenerator(8.0, variant)

    def forward(self, images):
        features = self.backbone(images)
        anchors = self.anchor_generator(features)
        deltas = self.bbox_pred(features).flatten(2).mT
        return anchors + deltas


def main(variant):
    model = nn.DataParallel(RegionProposalNetwork(variant).to("cuda:0"), device_ids=[0, 1])
    model.eval()
    with torch.no_grad():
        model(torch.rand(1, 3, 16, 16, device="cuda:0"))
        proposals = model(torch.rand(4, 3, 16, 16, device="cuda:0"))
    assert proposals.shape == (4, 16, 4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
