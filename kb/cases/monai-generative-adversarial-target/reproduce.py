"""The target of an adversarial loss is made on "cuda" while the discriminator is on another GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it like the discriminator's output and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class PatchAdversarialLoss(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.loss_fct = nn.MSELoss()
        self.variant = variant

    def get_target_tensor(self, input, target_is_real):
        value = 1.0 if target_is_real else 0.0
        if self.variant == "fixed":
            return torch.full_like(input, value)
        device = "cuda" if input.is_cuda else "cpu"
        return torch.full(input.shape, value, device=device)

    def forward(self, logits, target_is_real):
        return self.loss_fct(logits, self.get_target_tensor(logits, target_is_real))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    generator = nn.Conv2d(4, 1, 3, padding=1).to(device)
    discriminator = nn.Conv2d(1, 1, 3, stride=2).to(device)
    adv_loss = PatchAdversarialLoss(variant)
    latent, real = torch.randn(2, 4, 8, 8, device=device), torch.rand(2, 1, 8, 8, device=device)
    fake = generator(latent)
    loss_d = adv_loss(discriminator(real), True) + adv_loss(discriminator(fake.detach()), False)
    loss_d.backward()
    adv_loss(discriminator(fake), True).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
