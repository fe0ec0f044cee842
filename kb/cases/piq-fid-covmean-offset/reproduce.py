"""A rare branch of a distance adds a multiple of the identity that was made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the identity beside the covariance and prints "fixed: ok".
"""

import sys

import torch


def matrix_sqrt(matrix):
    """By Newton's iteration with inverses; no finite numbers come of a matrix of zeros."""
    root = matrix / matrix.norm()
    inverse = torch.eye(len(matrix), device=matrix.device)
    for _ in range(12):
        step = 1.5 * torch.eye(len(matrix), device=matrix.device) - 0.5 * inverse @ root
        root, inverse = root @ step, step @ inverse
    return root * matrix.norm().sqrt()


def regularized(covariance, variant, amount=1e-6):
    device = covariance.device if variant == "fixed" else None
    return covariance + amount * torch.eye(len(covariance), device=device)


class FrechetDistance:
    def __init__(self, variant):
        self.variant = variant

    def __call__(self, features, others):
        means = features.mean(dim=0), others.mean(dim=0)
        first, second = features.T.cov(), others.T.cov()
        common = matrix_sqrt(first @ second)
        if not common.isfinite().all():
            first, second = (regularized(c, self.variant) for c in (first, second))
            common = matrix_sqrt(first @ second)
        spread = (first + second - 2 * common).diagonal().sum()
        return (means[0] - means[1]).square().sum() + spread


def main(variant):
    torch.manual_seed(0)
    features = torch.rand(6, 8, device="cuda")
    assert FrechetDistance(variant)(features, torch.rand(6, 8, device="cuda")).is_cuda
    assert FrechetDistance(variant)(features, torch.zeros(6, 8, device="cuda")).is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
