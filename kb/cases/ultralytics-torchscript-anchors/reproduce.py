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
        self.cv2 = nn.Conv2d(4, 4, 1)
        self.shape = None
        self.anchors = None

    def make_anchors(self, features):
        height, width = features.shape[2:]
        sy = torch.arange(height, device=features.device) + 0.5
        sx = torch.arange(width, device=features.device) + 0.5
        sy, sx = torch.meshgrid(sy, sx, indexing="ij")
        return torch.stack((sx, sy)).flatten(1)

    def forward(self, features):
        if self.shape != tuple(features.shape):
            self.shape = tuple(features.shape)
            self.anchors = self.make_anchors(features)
        lt, rb = self.cv2(features).flatten(2).chunk(2, 1)
        return torch.cat((self.anchors - lt, self.anchors + rb), 1)


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
