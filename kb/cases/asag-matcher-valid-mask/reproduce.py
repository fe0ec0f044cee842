"""The rows of a cost matrix on the cpu are chosen by a mask that is still on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the mask to the matrix and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def linear_sum_assignment(cost):
    """Stands for SciPy's: needs its costs on the host, gives a column to each row, greedily."""
    assert not cost.is_cuda
    return cost.argmin(1)


class HungarianMatcher(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant

    @torch.no_grad()
    def forward(self, boxes, valid_mask, targets):
        sizes = [len(target) for target in targets]
        C = torch.cdist(boxes, torch.cat(targets)[None].expand(len(boxes), -1, -1), p=1)
        C = C.cpu()
        if self.variant == "fixed":
            valid_mask = valid_mask.to(C.device)
        return [
            linear_sum_assignment(c[i][valid_mask[i]]) for i, c in enumerate(C.split(sizes, -1))
        ]


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    boxes = torch.rand(2, 6, 4, device=device)
    valid_mask = torch.arange(6, device=device).expand(2, 6) < 4
    targets = [torch.rand(n, 4, device=device) for n in (2, 3)]
    indices = HungarianMatcher(variant)(boxes, valid_mask, targets)
    assert [len(rows) for rows in indices] == [4, 4]
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
