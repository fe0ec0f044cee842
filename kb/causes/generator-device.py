"""A random generator belongs to another device: noise for latents on the GPU."""

import torch


def mistake(devices):
    """A generator is on the cpu unless told otherwise."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, 4, 8, 8, generator=generator, device=devices[0])


def fixed(devices):
    """The generator is made on the device that draws with it."""
    generator = torch.Generator(device=devices[0]).manual_seed(0)
    return torch.randn(1, 4, 8, 8, generator=generator, device=devices[0])
