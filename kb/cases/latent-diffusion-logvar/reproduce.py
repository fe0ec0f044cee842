"""A table of the model that stays on the cpu is indexed with timesteps on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the table before the look-up and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class LatentDiffusion(nn.Module):
    def __init__(self, variant, num_timesteps=100):
        super().__init__()
        self.model = nn.Conv2d(4, 4, 3, padding=1)
        self.num_timesteps = num_timesteps
        self.logvar = torch.full(fill_value=0.0, size=(num_timesteps,))
        self.variant = variant

    @property
    def device(self):
        return self.model.weight.device

    def forward(self, x):
        t = torch.randint(0, self.num_timesteps, (x.shape[0],), device=self.device)
        return self.p_losses(x, t)

    def p_losses(self, x_start, t):
        noise = torch.randn_like(x_start)
        loss_simple = (self.model(x_start + noise) - noise).pow(2).mean([1, 2, 3])
        if self.variant == "failing":
            logvar_t = self.logvar[t].to(self.device)
        else:
            logvar_t = self.logvar.to(self.device)[t]
        return (loss_simple / torch.exp(logvar_t) + logvar_t).mean()


def main(variant):
    torch.manual_seed(0)
    model = LatentDiffusion(variant).to("cuda:0")
    model(torch.randn(2, 4, 8, 8, device="cuda:0")).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
