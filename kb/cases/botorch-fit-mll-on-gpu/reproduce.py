"""An optimizer on the host is started with bounds that are still on the GPU.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies them to the cpu and prints "fixed: ok". ``minimize`` works on
NumPy arrays, as SciPy's does.
"""

import sys

import numpy as np
import torch
from torch import nn


def minimize(fun, x0, bounds):
    x, low, high = x0, bounds[0], bounds[1]
    for _ in range(3):
        _, gradient = fun(x)
        x = np.clip(x - 0.1 * gradient, low, high)
    return x


def fit_gpytorch_mll(parameter, loss, bounds, variant):
    def closure(x):
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(x))
        value = loss(parameter)
        (gradient,) = torch.autograd.grad(value, parameter)
        return value.item(), gradient.cpu().numpy()

    if variant == "fixed":
        bounds = [bound.cpu() for bound in bounds]
    bounds = [np.asarray(bound) for bound in bounds]
    minimize(closure, parameter.detach().cpu().numpy(), bounds)


def main(variant):
    device = torch.device("cuda:0")
    lengthscale = nn.Parameter(torch.full((3,), 2.0, device=device))
    bounds = [torch.full((3,), limit, device=device) for limit in (0.1, 5.0)]
    fit_gpytorch_mll(lengthscale, lambda p: (p - 1).pow(2).sum(), bounds, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
