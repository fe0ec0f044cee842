"""Default boxes: sizes made once when the model is built meet a grid that is made on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the sizes where they are used and prints "fixed: ok".
The sizes are a list of plain tensors, so neither .to() nor .cuda() of the model reaches them. Here
the grid asks for the feature map's device; the report says that a scripted model does so.
"""

import sys

import torch
from torch import nn


class DefaultBoxes(nn.Module):
    def __init__(self, ratios, variant):
        super().__init__()
        self.variant = variant
        self.sizes = [torch.tensor([ratio, 1 / ratio]) for ratio in ratios]

    def centres(self, rows, columns, device):
        y = torch.linspace(0, 1, rows, device=device)
        x = torch.linspace(0, 1, columns, device=device)
        return torch.cartesian_prod(x, y)

    def forward(self, feature_map):
        centres = self.centres(*feature_map.shape[-2:], feature_map.device)
        boxes = []
        for size in self.sizes:
            size = size.expand(len(centres), 2)
            if self.variant == "fixed":
                size = size.to(feature_map.device)
            boxes.append(torch.cat((centres, size), dim=1))
        return torch.stack(boxes)


class SSD(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.backbone = nn.Conv2d(3, 4, kernel_size=3, stride=2)
        self.default_boxes = DefaultBoxes([1.0, 2.0], variant)

    def forward(self, images):
        features = self.backbone(images)
        return features, self.default_boxes(features)


def main(variant):
    model = SSD(variant).cuda()
    model(torch.rand(1, 3, 9, 9, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
