"""Muon's update runs while gradients are reduced on the GPU, and its momentum is offloaded.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the momentum to the gradient and back and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def newton_schulz(matrix, steps=5):
    x = matrix / (matrix.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x


class Stage3WithMuon:
    def __init__(self, model, offload_device, variant, beta=0.95, lr=0.02):
        self.variant, self.beta, self.lr = variant, beta, lr
        self.params = [p for p in model.parameters() if p.ndim == 2]
        self.fp32_partitions = [p.detach().to(offload_device) for p in self.params]
        self.momentum = [torch.zeros_like(part) for part in self.fp32_partitions]
        for i, param in enumerate(self.params):
            param.register_post_accumulate_grad_hook(lambda p, i=i: self.reduce(i, p))

    def reduce(self, i, param):
        if self.variant == "fixed":
            return  # only in step(), once
        param.grad = self.muon_update(param.grad, self.momentum[i])

    def muon_update(self, grad, momentum):
        momentum.lerp_(grad, 1 - self.beta)
        return newton_schulz(grad.lerp(momentum, self.beta))

    def step(self):
        for i, (param, part) in enumerate(zip(self.params, self.fp32_partitions, strict=True)):
            update = param.grad
            if self.variant == "fixed":
                momentum = self.momentum[i].to(update.device)
                update = self.muon_update(update, momentum)
                self.momentum[i].copy_(momentum)
            part.sub_(update.to(part.device), alpha=self.lr)
            param.data.copy_(part)
            param.grad = None


def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)).to("cuda")
    optimizer = Stage3WithMuon(model, offload_device="cpu", variant=variant)
    for _ in range(2):
        model(torch.randn(4, 8, device="cuda")).square().mean().backward()
        optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
