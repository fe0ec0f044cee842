"""A privacy engine makes its generator on the model's first device and does not take it along.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the generator,
``python reproduce.py fixed`` attaches the engine after the move and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class PrivacyEngine(nn.Module):
    """The noise of DP-SGD as Opacus before 1.0 added it: inside optimizer.step()."""

    def __init__(self, module, noise_multiplier, max_grad_norm):
        super().__init__()
        self.device = next(module.parameters()).device
        self.noise_multiplier = noise_multiplier
        self.max_grad_norm = max_grad_norm
        self.random_number_generator = torch.Generator(self.device)

    def attach(self, optimizer):
        original_step = optimizer.step

        def dp_step():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    p.grad += self._generate_noise(self.max_grad_norm, p.grad)
            original_step()

        optimizer.step = dp_step

    def _generate_noise(self, max_norm, reference):
        return torch.normal(
            0,
            self.noise_multiplier * max_norm,
            reference.shape,
            device=reference.device,
            generator=self.random_number_generator,
        )


def main(variant):
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    if variant == "fixed":
        model.to("cuda")
    privacy_engine = PrivacyEngine(model, noise_multiplier=1.3, max_grad_norm=1.0)
    if variant == "failing":
        model.to("cuda")
        privacy_engine.to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    privacy_engine.attach(optimizer)
    model(torch.randn(8, 4, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
