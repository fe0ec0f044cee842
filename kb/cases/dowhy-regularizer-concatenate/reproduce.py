"""Factors for group numbers are made by np.concatenate from a product on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about NumPy,
``python reproduce.py fixed`` stays in torch and prints "fixed: ok".
"""

import sys

import numpy as np
import torch


def conditional_reg(features, grouping_data, variant):
    """The penalty between the groups that the attribute labels span."""
    cardinality = grouping_data.amax(dim=0) + 1
    cumprod = torch.cumprod(cardinality, dim=0)
    if variant == "fixed":
        factors = torch.cat([torch.ones_like(cumprod[:1]), cumprod[:-1]])
    else:
        factors_np = np.concatenate(([1], cumprod[:-1]))
        factors = torch.from_numpy(factors_np).to(grouping_data.device)
    group_indices = (grouping_data * factors).sum(dim=1)
    groups = [features[group_indices == g] for g in group_indices.unique()]
    means = torch.stack([g.mean(dim=0) for g in groups])
    return torch.cdist(means, means).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    features = torch.randn(16, 3, device=device, requires_grad=True)
    attribute_labels = torch.randint(2, (16, 2), device=device)
    conditional_reg(features, attribute_labels, variant).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
