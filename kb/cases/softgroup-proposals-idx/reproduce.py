"""Instance proposals on the cpu are picked with a mask made of scores on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the proposals to the mask's device and prints "fixed: ok".
``ball_query_grouping`` stands for the grouping extension, which works and answers on the cpu.
"""

import sys

import torch
from torch import nn


def ball_query_grouping(coords, radius):
    """Rows of (proposal, point) for every point within the radius of a proposal's centre."""
    coords = coords.cpu()
    near = torch.cdist(coords[::8], coords) < radius
    proposals_idx = near.nonzero()
    return proposals_idx, int(near.shape[0])


class SoftGroup(nn.Module):
    def __init__(self, channels, classes, variant):
        super().__init__()
        self.cls_linear = nn.Linear(channels, classes)
        self.mask_linear = nn.Linear(channels, 1)
        self.variant = variant

    def get_instances(self, proposals_idx, cls_scores, mask_scores):
        instances = []
        for i in range(cls_scores.shape[1]):
            mask_inds = mask_scores.sigmoid() > 0.5
            if self.variant == "fixed":
                proposals_idx = proposals_idx.to(mask_inds.device)
            cur_proposals_idx = proposals_idx[mask_inds].long()
            instances.append((i, len(cur_proposals_idx)))
        return instances

    def forward(self, coords, feats):
        proposals_idx, number = ball_query_grouping(coords, radius=0.5)
        points = feats[proposals_idx[:, 1]]
        cls_scores = self.cls_linear(feats[:number])
        mask_scores = self.mask_linear(points).squeeze(1)
        return self.get_instances(proposals_idx, cls_scores, mask_scores)


def main(variant):
    torch.manual_seed(0)
    model = SoftGroup(channels=6, classes=3, variant=variant).cuda().eval()
    with torch.no_grad():
        instances = model(torch.rand(64, 3, device="cuda"), torch.rand(64, 6, device="cuda"))
    assert len(instances) == 3
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
