"""Point sampling that is written for CUDA gets points on the cpu.

Needs torch, the compiled part ``_ext`` of pointnet2_ops (simulated GPUs bring it) and one GPU.
``python reproduce.py failing`` ends in the extension's error, ``python reproduce.py fixed`` moves data and
model and prints "fixed: ok".
"""

import sys

import torch
from pointnet2_ops import _ext
from torch import nn


class FurthestPointSampling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, xyz, npoint):
        out = _ext.furthest_point_sampling(xyz, npoint)
        ctx.mark_non_differentiable(out)
        return out


class LocalGrouper(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups
        self.embedding = nn.Linear(3, 8)

    def forward(self, xyz):
        fps_idx = FurthestPointSampling.apply(xyz, self.groups).long()
        return self.embedding(xyz.gather(1, fps_idx[..., None].expand(-1, -1, 3)))


def main(variant):
    data = torch.rand(2, 64, 3)
    model = LocalGrouper(groups=8)
    if variant == "fixed":
        data, model = data.cuda(), model.cuda()
    model(data)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
