"""A Gaussian process caches what its training data give; moving the model leaves the cache.

Needs torch and one GPU, no GPyTorch. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` drops the cache when the model moves and prints "fixed: ok".
An exact GP with an RBF kernel. The training inputs do move, in _apply as GPyTorch's do; what was
computed from them for the first prediction does not.
"""

import sys

import torch
from torch import nn


def rbf(x1, x2, lengthscale):
    return torch.exp(-0.5 * ((x1[:, None] - x2[None, :]) / lengthscale).square())


class PredictionStrategy:
    """Keeps the solve with the training data, which every later prediction needs again."""

    def __init__(self, train_train_covar, train_targets):
        noise = 0.01 * torch.eye(len(train_targets), device=train_targets.device)
        self.mean_cache = torch.linalg.solve(train_train_covar + noise, train_targets)

    def exact_predictive_mean(self, test_train_covar):
        return test_train_covar @ self.mean_cache


class ExactGP(nn.Module):
    def __init__(self, train_inputs, train_targets, drops_cache):
        super().__init__()
        self.train_inputs, self.train_targets = train_inputs, train_targets
        self.lengthscale = nn.Parameter(torch.tensor(0.5, device=train_inputs.device))
        self.prediction_strategy = None
        self.drops_cache = drops_cache

    def _apply(self, fn):
        self.train_inputs, self.train_targets = fn(self.train_inputs), fn(self.train_targets)
        if self.drops_cache:
            self.prediction_strategy = None
        return super()._apply(fn)

    def forward(self, x):
        if self.prediction_strategy is None:
            covar = rbf(self.train_inputs, self.train_inputs, self.lengthscale)
            self.prediction_strategy = PredictionStrategy(covar, self.train_targets)
        test_train_covar = rbf(x, self.train_inputs, self.lengthscale)
        return self.prediction_strategy.exact_predictive_mean(test_train_covar)


def main(variant):
    torch.manual_seed(0)
    tx = torch.rand(10)
    model = ExactGP(tx, tx.sin(), drops_cache=variant == "fixed").eval()
    test_x = torch.rand(5)
    with torch.no_grad():
        model(test_x)
        model.cuda()
        model(test_x.cuda())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
