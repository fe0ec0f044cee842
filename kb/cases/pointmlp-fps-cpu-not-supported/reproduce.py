"""Point sampling that is written for CUDA gets points on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the extension's error,
``python reproduce.py fixed`` moves data and model and prints "fixed: ok". ``_ext`` refuses cpu
tensors in the extension's words and samples in plain PyTorch otherwise.
"""

import sys

import torch
from torch import nn


class _ext:
    @staticmethod
    def furthest_point_sampling(xyz, npoint):
        if not xyz.is_cuda:
            raise RuntimeError(
                'false INTERNAL ASSERT FAILED at "pointnet2_ops/_ext-src/src/sampling.cpp":83, '
                "please report a bug to PyTorch. CPU not supported"
            )
        chosen = [torch.zeros(len(xyz), dtype=torch.long, device=xyz.device)]
        distance = torch.full(xyz.shape[:2], float("inf"), device=xyz.device)
        for _ in range(npoint - 1):
            last = xyz[torch.arange(len(xyz), device=xyz.device), chosen[-1]]
            distance = torch.minimum(distance, (xyz - last[:, None]).pow(2).sum(-1))
            chosen.append(distance.argmax(-1))
        return torch.stack(chosen, dim=1)


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
