"""A generator on the GPU is given to a pipeline whose model is still on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error,
``python reproduce.py fixed`` moves the pipeline first and prints "fixed: ok".
torch has no say here: ``randn_tensor`` makes the check that diffusers makes.
"""

import sys

import torch
from torch import nn


def randn_tensor(shape, generator, device):
    """Draws on the cpu for a cpu generator; a GPU generator cannot draw for the cpu."""
    rand_device = device
    if generator.device.type != device.type:
        if generator.device.type == "cuda":
            raise ValueError(
                f"Cannot generate a {device} tensor from a generator of type {generator.device.type}."
            )
        rand_device = generator.device
    return torch.randn(shape, generator=generator, device=rand_device).to(device)


class StableDiffusionXLPipeline:
    def __init__(self, unet):
        self.unet = unet

    @property
    def _execution_device(self):
        return next(self.unet.parameters()).device

    def prepare_latents(self, generator):
        return randn_tensor((1, 4, 8, 8), generator, self._execution_device)

    def __call__(self, generator):
        latents = self.prepare_latents(generator)
        return self.unet(latents)


def process_diffusers(variant):
    pipe = StableDiffusionXLPipeline(nn.Conv2d(4, 4, 1))
    generator = torch.Generator(device="cuda").manual_seed(42)
    if variant == "fixed":
        pipe.unet.to("cuda")
    pipe(generator)
    print(f"{variant}: ok")


if __name__ == "__main__":
    process_diffusers(sys.argv[1])
