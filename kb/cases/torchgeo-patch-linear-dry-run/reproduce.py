"""A probe runs its new head once in __init__, before anybody can have moved the head.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the head before the dry run and prints "fixed: ok".
The backbone is on the GPU already. Only a head that learns its width from the features needs the
dry run, so the other heads of the benchmark never fail. All is tiny and random.
"""

import sys

import torch
from torch import nn


class PatchLinearHead(nn.Module):
    def __init__(self, feature_dim, num_classes):
        super().__init__()
        self.norm = nn.LayerNorm(feature_dim)
        self.num_classes = num_classes
        self.conv = None

    def forward(self, tokens):
        tokens = self.norm(tokens)
        if self.conv is None:
            self.conv = nn.Linear(tokens.shape[-1], self.num_classes).to(tokens.device)
        return self.conv(tokens)


class SegmentationProbe(nn.Module):
    def __init__(self, backbone, num_classes, device, variant):
        super().__init__()
        self.backbone = backbone
        self.head = PatchLinearHead(8, num_classes)
        if variant == "fixed":
            self.head.to(device)
        with torch.no_grad():
            self.forward(torch.zeros(1, 4, 6, device=device))

    def forward(self, patches):
        return self.head(self.backbone(patches))


def main(variant):
    device = torch.device("cuda:0")
    backbone = nn.Linear(6, 8).to(device)
    probe = SegmentationProbe(backbone, num_classes=3, device=device, variant=variant)
    probe.to(device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
