"""Place values for combined labels are made by np.concatenate from a product on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about NumPy,
``python reproduce.py fixed`` stays in torch and prints "fixed: ok".
"""

import sys

import numpy as np
import torch


class MixedRadix:
    """Numbers each combination of labels: (1, 0, 2) with 2, 3 and 4 values is 1 + 0*2 + 2*6."""

    def __init__(self, variant):
        self.variant = variant

    def place_values(self, sizes):
        products = sizes.cumprod(dim=0)
        if self.variant == "fixed":
            return torch.cat([products.new_ones(1), products[:-1]])
        return torch.from_numpy(np.concatenate([[1], products[:-1]])).to(sizes.device)

    def number(self, labels):
        return (labels * self.place_values(labels.amax(dim=0) + 1)).sum(dim=1)


def conditional_reg(outputs, labels, variant):
    """How far the mean outputs of the labels' combinations are apart."""
    numbers = MixedRadix(variant).number(labels)
    means = torch.stack([outputs[numbers == n].mean(dim=0) for n in numbers.unique()])
    return torch.cdist(means, means).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    outputs = torch.randn(16, 3, device=device, requires_grad=True)
    labels = torch.randint(2, (16, 2), device=device)
    conditional_reg(outputs, labels, variant).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
