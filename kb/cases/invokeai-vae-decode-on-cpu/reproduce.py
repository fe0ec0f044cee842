"""A decoder asks its weights for a device while a cache has parked them, and runs on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an assertion, since nothing is
raised: the image comes from the cpu. ``python reproduce.py fixed`` asks for the intended device and
prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class CustomConv2d(nn.Conv2d):
    """Casts its weights to the device of its input for the time of a call."""

    def forward(self, x):
        return self._conv_forward(x, self.weight.to(x.device), self.bias.to(x.device))


class AutoencoderKL(nn.Module):
    def __init__(self):
        super().__init__()
        self.post_quant_conv, self.conv_out = (
            CustomConv2d(4, 8, 1),
            CustomConv2d(8, 3, 3, padding=1),
        )

    def decode(self, latents):
        return self.conv_out(self.post_quant_conv(latents).relu())


class CachedModel:
    """Moves as many weights to the compute device as fit, which may be none."""

    def __init__(self, model, compute_device, free_bytes):
        self.model, self.compute_device = model, torch.device(compute_device)
        self.free_bytes = free_bytes

    def partial_load(self):
        for parameter in self.model.parameters():
            size = parameter.numel() * parameter.element_size()
            if size <= self.free_bytes:
                parameter.data = parameter.data.to(self.compute_device)
                self.free_bytes -= size


def get_effective_device(model):
    devices = [p.device for p in model.parameters() if p.device.type != "cpu"]
    return devices[0] if devices else torch.device("cpu")


def vae_decode(cached, latents, variant):
    cached.partial_load()
    if variant == "fixed":
        device = cached.compute_device
    else:
        device = get_effective_device(cached.model)
    with torch.no_grad():
        return cached.model.decode(latents.to(device))


def main(variant):
    cached = CachedModel(AutoencoderKL(), "cuda:0", free_bytes=0)
    image = vae_decode(cached, torch.randn(1, 4, 8, 8), variant)
    assert image.is_cuda, "nothing was raised, but the VAE decoded on the cpu beside an idle GPU"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
