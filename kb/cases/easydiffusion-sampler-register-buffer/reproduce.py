"""A sampler sends its schedule to "cuda", which is cuda:0, while the model runs on cuda:1.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends it to the model's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class LatentDiffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_embed = nn.Embedding(10, 4)

    @property
    def device(self):
        return self.time_embed.weight.device

    def apply_model(self, x, t):
        return x + self.time_embed(t)[:, :, None, None]


class DDIMSampler:
    def __init__(self, model, variant):
        self.model = model
        self.variant = variant
        self.register_buffer("ddim_timesteps", torch.arange(1, 10, 3))

    def register_buffer(self, name, attr):
        device = torch.device("cuda") if self.variant == "failing" else self.model.device
        setattr(self, name, attr.to(device))

    def sample(self, x):
        for step in self.ddim_timesteps.flip(0):
            x = self.model.apply_model(x, step.expand(x.shape[0]))
        return x


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    model = LatentDiffusion().to(device)
    with torch.no_grad():
        samples = DDIMSampler(model, variant).sample(torch.randn(1, 4, 8, 8, device=device))
    assert samples.device == device
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
