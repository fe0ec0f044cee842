"""An assigner numbers all points on the cpu and selects the numbers with a mask from the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the numbers to the boxes' device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class PointAssigner:
    def __init__(self, scale, pos_num, variant):
        self.scale, self.pos_num, self.variant = scale, pos_num, variant

    def assign(self, points, gt_bboxes):
        points_xy, points_stride = points[:, :2], points[:, 2]
        points_lvl = torch.log2(points_stride).int()
        lvl_min, lvl_max = points_lvl.min(), points_lvl.max()
        size = (gt_bboxes[:, 2:] - gt_bboxes[:, :2]).clamp(min=1e-6)
        gt_lvl = torch.log2(size.mean(1) / self.scale).int().clamp(lvl_min, lvl_max)
        assigned = points.new_zeros(len(points), dtype=torch.long)
        points_range = torch.arange(points.shape[0])
        if self.variant == "fixed":
            points_range = points_range.to(gt_bboxes.device)
        for idx, box in enumerate(gt_bboxes):
            lvl_idx = gt_lvl[idx] == points_lvl
            points_index = points_range[lvl_idx]
            centre = (box[:2] + box[2:]) / 2
            distance = (points_xy[lvl_idx] - centre).norm(dim=1)
            nearest = distance.topk(self.pos_num, largest=False).indices
            assigned[points_index[nearest]] = idx + 1
        return assigned


def main(variant):
    torch.manual_seed(0)
    backbone = nn.Conv2d(3, 2, 3, padding=1).cuda()
    backbone(torch.rand(1, 3, 16, 16, device="cuda"))
    grids = [torch.rand(n, 2) * 64 for n in (64, 16)]
    strides = [torch.full((len(g), 1), s) for g, s in zip(grids, (8.0, 16.0), strict=True)]
    points = torch.cat([torch.cat(grids), torch.cat(strides)], dim=1).cuda()
    gt_bboxes = torch.tensor([[4.0, 4.0, 40.0, 44.0], [20.0, 8.0, 60.0, 60.0]], device="cuda")
    assigned = PointAssigner(scale=4, pos_num=2, variant=variant).assign(points, gt_bboxes)
    assert int(assigned.max()) == 2
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
