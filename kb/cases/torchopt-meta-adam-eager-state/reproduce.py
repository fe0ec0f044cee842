"""A differentiable optimizer makes its moments when it is defined, before the module is moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them in the first step and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class MetaAdam:
    """Updates parameters by new tensors, so that gradients can flow through the step."""

    def __init__(self, module, lr, variant):
        self.module = module
        self.lr = lr
        self.state = None if variant == "fixed" else self.init(module)

    @staticmethod
    def init(module):
        return {name: torch.zeros_like(p) for name, p in module.named_parameters()}

    def step(self, loss):
        if self.state is None:
            self.state = self.init(self.module)
        named = dict(self.module.named_parameters())
        grads = torch.autograd.grad(loss, named.values(), create_graph=True)
        updated = {}
        for (name, p), grad in zip(named.items(), grads, strict=True):
            self.state[name] = 0.9 * self.state[name] + 0.1 * grad
            updated[name] = p - self.lr * self.state[name]
        return updated


def main(variant):
    torch.manual_seed(0)
    module = nn.Linear(4, 1)
    optimizer = MetaAdam(module, lr=0.1, variant=variant)
    module = module.cuda()
    x, y = torch.randn(8, 4, device="cuda"), torch.randn(8, 1, device="cuda")
    fast_weights = optimizer.step(nn.functional.mse_loss(module(x), y))
    meta_loss = nn.functional.mse_loss(torch.func.functional_call(module, fast_weights, x), y)
    meta_loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
