"""A rare branch of a metric adds an identity matrix that was made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the identity like the means and prints "fixed: ok".
"""

import sys

import torch


def _sqrtm_newton_schulz(matrix, num_iters=30):
    norm = matrix.norm()
    y, identity = matrix / norm, torch.eye(len(matrix), device=matrix.device)
    z = identity.clone()
    for _ in range(num_iters):
        t = 0.5 * (3.0 * identity - z.mm(y))
        y, z = y.mm(t), t.mm(z)
    return y * norm.sqrt()


def _compute_fid(mu1, sigma1, mu2, sigma2, variant, eps=1e-6):
    diff = mu1 - mu2
    covmean = _sqrtm_newton_schulz(sigma1.mm(sigma2))
    if not torch.isfinite(covmean).all():
        offset = torch.eye(sigma1.size(0)) * eps
        if variant == "fixed":
            offset = torch.eye(sigma1.size(0)).to(mu1) * eps
        covmean = _sqrtm_newton_schulz((sigma1 + offset).mm(sigma2 + offset))
    return diff.dot(diff) + torch.trace(sigma1) + torch.trace(sigma2) - 2 * torch.trace(covmean)


class FID:
    def __init__(self, variant):
        self.variant = variant

    def __call__(self, prediction_features, target_features):
        statistics = []
        for features in (prediction_features, target_features):
            statistics += [features.mean(0), torch.cov(features.T)]
        return _compute_fid(*statistics, variant=self.variant)


def main(variant):
    torch.manual_seed(0)
    prediction_features = torch.rand(4, 16, device="cuda")
    target_features = torch.zeros(4, 16, device="cuda")
    assert FID(variant)(prediction_features, target_features).is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
