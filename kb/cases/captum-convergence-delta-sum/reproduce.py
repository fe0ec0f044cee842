"""Sums of attributions are put into a new tensor, which is made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it on the attributions' device and prints "fixed: ok".
``IntegratedGradients`` is a small one of its own with Captum's check of convergence.
"""

import sys

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1 = nn.Linear(3, 3)
        self.lin2 = nn.Linear(3, 2)

    def forward(self, input):
        return self.lin2(torch.relu(self.lin1(input)))


class IntegratedGradients:
    def __init__(self, forward_func, variant):
        self.forward_func = forward_func
        self.variant = variant

    def attribute(self, input, baseline, target, n_steps=8):
        total = torch.zeros_like(input)
        for step in range(n_steps):
            alpha = (step + 0.5) / n_steps
            point = (baseline + alpha * (input - baseline)).requires_grad_()
            out = self.forward_func(point)[:, target].sum()
            total += torch.autograd.grad(out, point)[0]
        attributions = total / n_steps * (input - baseline)
        return attributions, self.compute_convergence_delta(attributions, baseline, input, target)

    def compute_convergence_delta(self, attributions, start_point, end_point, target):
        with torch.no_grad():
            start = self.forward_func(start_point)[:, target]
            end = self.forward_func(end_point)[:, target]
        row_sums = [row.sum().item() for row in attributions]
        device = attributions.device if self.variant == "fixed" else None
        attr_sum = torch.tensor(row_sums, device=device)
        return attr_sum - (end - start)


def main(variant):
    torch.manual_seed(123)
    model = ToyModel().cuda().eval()
    input, baseline = torch.rand(2, 3).cuda(), torch.zeros(2, 3).cuda()
    ig = IntegratedGradients(model, variant)
    attributions, delta = ig.attribute(input, baseline, target=0)
    print("delta", delta.abs().max().item())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
