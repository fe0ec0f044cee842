"""A detector keeps the anchors of its first forward; the model moves, the anchors do not.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the anchors anew on another device and prints "fixed: ok".
The model runs on the GPU first and on the cpu afterwards, as a detector does that is trained on one
and used on the other. Region proposals are reduced to anchors and one convolution.
"""

import sys

import torch
from torch import nn


class AnchorGenerator(nn.Module):
    def __init__(self, sizes, checks_device):
        super().__init__()
        self.sizes = sizes
        self.cell_anchors = None
        self.checks_device = checks_device

    def set_cell_anchors(self, device):
        kept = self.cell_anchors is not None
        if kept and (not self.checks_device or self.cell_anchors[0].device == device):
            return
        sides = torch.tensor(self.sizes, device=device)
        self.cell_anchors = [torch.stack([-sides, -sides, sides, sides], dim=1) / 2]

    def forward(self, feature_maps):
        self.set_cell_anchors(feature_maps[0].device)
        return self.cell_anchors[0]


class BoxCoder:
    def decode(self, rel_codes, boxes):
        widths = boxes[:, 2] - boxes[:, 0]
        pred_ctr_x = rel_codes[:, 0] * widths
        return torch.stack([pred_ctr_x - widths / 2, pred_ctr_x + widths / 2], dim=1)


class RegionProposalNetwork(nn.Module):
    def __init__(self, checks_device):
        super().__init__()
        self.anchor_generator = AnchorGenerator([8.0, 16.0], checks_device)
        self.bbox_pred = nn.Conv2d(3, 4, kernel_size=1)
        self.box_coder = BoxCoder()

    def forward(self, features):
        pred_bbox_deltas = self.bbox_pred(features).mean(dim=(2, 3)).repeat(2, 1)
        anchors = self.anchor_generator([features])
        return self.box_coder.decode(pred_bbox_deltas.detach(), anchors)


def main(variant):
    torch.manual_seed(0)
    model = RegionProposalNetwork(checks_device=variant == "fixed")
    dummy_data = torch.rand(1, 3, 8, 8)
    model.to("cuda:0")(dummy_data.to("cuda:0"))
    model.to("cpu").eval()(dummy_data)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
