"""Gradients of two GPUs are clipped by a function that stacks their norms as they are.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` uses the function of the installed torch and prints "fixed: ok".
``clip_as_1_5_0`` computes as the function of that release did.
"""

import sys

import torch
from torch import nn


class TwoGpuModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 6), nn.ReLU()).to("cuda:0")
        self.head = nn.Linear(6, 3).to("cuda:1")

    def forward(self, features):
        return self.head(self.encoder(features).to("cuda:1"))


def clip_as_1_5_0(parameters, max_norm):
    gradients = [parameter.grad for parameter in parameters]
    norms = [gradient.norm() for gradient in gradients]
    total_norm = torch.stack(norms).norm()
    for gradient in gradients:
        gradient.mul_((max_norm / total_norm).clamp(max=1.0).to(gradient.device))
    return total_norm


def main(variant):
    model = TwoGpuModel()
    model(torch.rand(5, 12, device="cuda:0")).square().mean().backward()
    clip = nn.utils.clip_grad_norm_ if variant == "fixed" else clip_as_1_5_0
    clip(model.parameters(), max_norm=0.5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
