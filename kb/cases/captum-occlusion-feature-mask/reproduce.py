"""Windows of two inputs share a pass, and the empty masks among theirs are made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the mask on the input's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Occlusion:
    def __init__(self, forward_func, variant):
        self.forward_func = forward_func
        self.variant = variant

    def _mask(self, tensor, start, width):
        """A window of ones, or zeros where the window is another input's (start is None)."""
        if start is None:
            device = tensor.device if self.variant == "fixed" else None
            return torch.zeros(tensor.shape[1:], device=device)
        mask = torch.zeros_like(tensor[0])
        mask[start : start + width] = 1
        return mask

    def attribute(self, inputs, width, perturbations_per_eval=1):
        totals = [torch.zeros_like(tensor) for tensor in inputs]
        base = self.forward_func(*inputs)
        windows = [
            (owner, start)
            for owner, tensor in enumerate(inputs)
            for start in range(tensor.shape[1] - width + 1)
        ]
        for first in range(0, len(windows), perturbations_per_eval):
            chunk = windows[first : first + perturbations_per_eval]
            masks, ablated = {}, [tensor.expand(len(chunk), -1) for tensor in inputs]
            for number in {owner for owner, _ in chunk}:
                starts = [start if owner == number else None for owner, start in chunk]
                column = [self._mask(inputs[number], start, width) for start in starts]
                masks[number] = torch.stack(column)
                ablated[number] = ablated[number] * (1 - masks[number])
            effect = base - self.forward_func(*ablated)
            for number, mask in masks.items():
                totals[number] += (mask * effect).sum(dim=0)
        return totals


def main(variant):
    torch.manual_seed(0)
    image, text = nn.Linear(5, 1).cuda(), nn.Linear(4, 1).cuda()
    inputs = torch.rand(1, 5, device="cuda"), torch.rand(1, 4, device="cuda")
    ablator = Occlusion(lambda x, y: (image(x) + text(y)).detach(), variant)
    ablator.attribute(inputs, width=3)
    ablator.attribute(inputs, width=3, perturbations_per_eval=2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
