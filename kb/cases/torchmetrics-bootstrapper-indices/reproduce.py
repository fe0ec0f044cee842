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


def _bootstrap_sampler(size):
    """How often a row is drawn is Poisson distributed."""
    repeats = torch.distributions.Poisson(1).sample((size,))
    return torch.arange(size).repeat_interleave(repeats.long(), dim=0)


class BootStrapper(nn.Module):
    def __init__(self, base_metric, num_bootstraps, variant):
        super().__init__()
        self.metrics = nn.ModuleList(copy.deepcopy(base_metric) for _ in range(num_bootstraps))
        self.variant = variant

    def update(self, preds, target):
        for metric in self.metrics:
            sample_idx = _bootstrap_sampler(len(preds))
            if self.variant == "fixed":
                sample_idx = sample_idx.to(preds.device)
            metric.update(
                torch.index_select(preds, 0, sample_idx), torch.index_select(target, 0, sample_idx)
            )

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
