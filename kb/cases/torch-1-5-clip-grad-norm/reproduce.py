"""Gradients of two GPUs are clipped by a function that stacks their norms as they are.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` uses the function of the installed torch and prints "fixed: ok".
``clip_grad_norm_`` below computes as the one of 1.5.0 did.
"""

import sys

import torch
from torch import nn


class MyModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(16, 8).to("cuda:0")
        self.layer2 = nn.Linear(8, 4).to("cuda:1")

    def forward(self, x):
        a = self.layer1(x)
        return self.layer2(a.to("cuda:1"))


def clip_grad_norm_(parameters, max_norm):
    parameters = list(parameters)
    norms = [torch.norm(p.grad.detach()) for p in parameters]
    total_norm = torch.norm(torch.stack(norms))
    for p in parameters:
        p.grad.mul_((max_norm / (total_norm + 1e-6)).clamp(max=1.0).to(p.grad.device))
    return total_norm


def main(variant):
    m = MyModule()
    m(torch.randn(4, 16).to("cuda:0")).sum().backward()
    clip = nn.utils.clip_grad_norm_ if variant == "fixed" else clip_grad_norm_
    clip(m.parameters(), 1.0)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
