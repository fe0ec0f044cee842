"""A bootstrap draws the rows of each copy on the cpu and picks them from tensors on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` draws them on the tensors' device and prints "fixed: ok".
"""

import copy
import sys

import torch
from torch import nn


class MeanAbsoluteError(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def update(self, preds, target):
        error = (preds - target).abs()
        self.total += torch.stack([error.sum(), torch.ones_like(error).sum()])

    def compute(self):
        return self.total[0] / self.total[1]


def draw_rows(size):
    """As many rows as there are, with replacement."""
    return torch.randint(size, (size,))


class BootStrapper(nn.Module):
    def __init__(self, base_metric, num_bootstraps, variant):
        super().__init__()
        self.metrics = nn.ModuleList(copy.deepcopy(base_metric) for _ in range(num_bootstraps))
        self.variant = variant

    def update(self, preds, target):
        for metric in self.metrics:
            rows = draw_rows(len(preds))
            if self.variant == "fixed":
                rows = rows.to(preds.device)
            metric.update(*(torch.index_select(x, 0, rows) for x in (preds, target)))

    def compute(self):
        return torch.stack([metric.compute() for metric in self.metrics]).std()


def main(variant):
    torch.manual_seed(0)
    mae = BootStrapper(MeanAbsoluteError(), num_bootstraps=4, variant=variant).to("cuda")
    preds, targets = torch.randn(20, device="cuda"), torch.randn(20, device="cuda")
    mae.update(preds, targets)
    print(mae.compute())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
