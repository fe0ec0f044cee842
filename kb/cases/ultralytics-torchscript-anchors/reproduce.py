"""A detection head builds its anchors while it is traced, and the trace keeps the cpu for ever.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` lets the dry run build them and prints "fixed: ok": a constant of
the trace moves with the model. make_fx stands for torch.jit.trace, which is deprecated.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx


class Detect(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_distances = nn.Conv2d(4, 4, 1)
        self.shape = None
        self.anchors = None

    def cell_centres(self, features):
        """The middle of each cell, row by row, as two rows of coordinates."""
        height, width = features.shape[2:]
        cells = torch.arange(height * width, device=features.device)
        return torch.stack([cells % width, cells // width]) + 0.5

    def forward(self, features):
        if self.shape != features.shape:
            self.shape = features.shape
            self.anchors = self.cell_centres(features)
        distances = self.to_distances(features).flatten(2)
        return torch.cat([self.anchors - distances[:, :2], self.anchors + distances[:, 2:]], dim=1)


def export_torchscript(model, im, variant):
    for _ in range(2):
        model(im)  # dry runs
    if variant == "failing":
        model.shape = None
    return make_fx(model)(im)


def main(variant):
    model = Detect().eval().requires_grad_(False)
    traced = export_torchscript(model, torch.rand(1, 4, 6, 6), variant)
    backend = traced.to("cuda:0")
    backend(torch.rand(1, 4, 6, 6, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
