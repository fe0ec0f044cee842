"""Features come back on the GPU, and so does the distance matrix that is made into an array.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` has the predictor return features on the cpu and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class FeatureExtractionDemo:
    def __init__(self, device, variant):
        self.model = nn.Linear(16, 8).to(device)
        self.device = device
        self.variant = variant

    @torch.no_grad()
    def run_on_loader(self, loader):
        for images in loader:
            features = self.model(images.to(self.device))
            yield features.cpu() if self.variant == "fixed" else features


def main(variant):
    loader = [torch.randn(4, 16) for _ in range(3)]
    demo = FeatureExtractionDemo(torch.device("cuda:0"), variant)
    feats = torch.cat(list(demo.run_on_loader(loader)))
    q_feat, g_feat = feats[:4], feats[4:]
    distmat = 1 - torch.mm(q_feat, g_feat.t())
    distmat = distmat.numpy()
    assert distmat.shape == (4, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
