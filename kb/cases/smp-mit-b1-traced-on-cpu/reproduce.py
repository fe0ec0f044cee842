"""An encoder's placeholder for a missing feature map keeps the device of the recording.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` derives the map from its input and prints "fixed: ok". make_fx stands
for torch.jit.trace, which is deprecated: both run the code once and write down what happened.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.functional import interpolate


class MixVisionTransformerEncoder(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.patch_embed = nn.Conv2d(3, 8, 4, stride=4)

    def forward(self, x):
        # Nothing is learned at half the size: a map of zeros stands in for it.
        if self.variant == "fixed":
            dummy = (x[:, :1, ::2, ::2] * 0).expand(-1, 4, -1, -1)
        else:
            batch, _, height, width = x.shape
            dummy = torch.zeros((batch, 4, height // 2, width // 2), device=x.device)
        return dummy, self.patch_embed(x)


class Unet(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.encoder = MixVisionTransformerEncoder(variant)
        self.segmentation_head = nn.Conv2d(12, 3, 1)

    def forward(self, x):
        skip, features = self.encoder(x)
        features = interpolate(features, scale_factor=2.0)
        return self.segmentation_head(torch.cat([features, skip], dim=1))


def main(variant):
    sample_data = torch.rand(1, 3, 16, 16)
    traced = make_fx(Unet(variant).eval().requires_grad_(False))(sample_data)
    model = traced.to("cuda")
    model(sample_data.to("cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
