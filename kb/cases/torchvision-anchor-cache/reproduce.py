"""A detector keeps the anchors of its first forward; the model moves, the anchors do not.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the anchors anew on another device and prints "fixed: ok".
The model runs on the GPU first and on the cpu afterwards, as a detector does that is trained on one
and used on the other. Region proposals are reduced to one convolution and a box around each place.
"""

import sys

import torch
from torch import nn


class AnchorGenerator:
    """Boxes of a few sizes around zero, made when they are asked for and kept from then on."""

    def __init__(self, sides, watches_device):
        self.sides = sides
        self.watches_device = watches_device
        self.kept = None

    def anchors(self, device):
        stale = self.watches_device and self.kept is not None and self.kept.device != device
        if self.kept is None or stale:
            half = torch.tensor(self.sides, device=device) / 2
            self.kept = torch.stack((-half, half), dim=1)
        return self.kept


class BoxCoder:
    def decode(self, shifts, anchors):
        centre = anchors.mean(dim=1) + shifts
        return torch.stack((centre, anchors[:, 1] - anchors[:, 0]), dim=1)


class RegionProposalNetwork(nn.Module):
    def __init__(self, watches_device):
        super().__init__()
        self.anchor_generator = AnchorGenerator([8.0, 16.0], watches_device)
        self.head = nn.Conv2d(3, 2, kernel_size=1)
        self.box_coder = BoxCoder()

    def forward(self, images):
        shifts = self.head(images).mean(dim=(0, 2, 3))
        return self.box_coder.decode(shifts, self.anchor_generator.anchors(images.device))


def main(variant):
    torch.manual_seed(0)
    model = RegionProposalNetwork(watches_device=variant == "fixed")
    images = torch.rand(1, 3, 8, 8)
    model.to("cuda:0")(images.to("cuda:0"))
    model.to("cpu").eval()(images)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
