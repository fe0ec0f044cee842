"""The targets of an attribution are given as a list and become a cpu index.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the index where the output is and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def _select_targets(output, target, variant):
    """The column of each example that is to be explained."""
    if isinstance(target, int):
        return output[:, target]
    if isinstance(target, torch.Tensor):
        index = target
    else:
        device = output.device if variant == "fixed" else None
        index = torch.tensor(target, device=device)
    return torch.gather(output, 1, index.reshape(len(output), 1))


class Saliency:
    def __init__(self, forward_func, variant):
        self.forward_func = forward_func
        self.variant = variant

    def attribute(self, inputs, target):
        inputs = inputs.clone().requires_grad_()
        chosen = _select_targets(self.forward_func(inputs), target, self.variant)
        return torch.autograd.grad(chosen.sum(), inputs)[0].abs()


def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 4)).to("cuda")
    images = torch.rand(3, 1, 4, 4, device="cuda")
    saliency = Saliency(model, variant)
    saliency.attribute(images, target=torch.tensor([1, 0, 2], device="cuda"))
    saliency.attribute(images, target=[1, 0, 2])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
