"""A generator on the GPU is given to a pipeline whose model is still on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's refusal,
``python reproduce.py fixed`` moves the pipeline first and prints "fixed: ok".
diffusers asks before it draws and says it in words of its own; here torch says it, which is asked
next.
"""

import sys

import torch
from torch import nn


class Pipeline:
    """Draws its latents on the device of its model, whatever device the generator is for."""

    def __init__(self, unet):
        self.unet = unet

    @property
    def execution_device(self):
        return next(self.unet.parameters()).device

    def prepare_latents(self, generator):
        return torch.randn(1, 4, 8, 8, generator=generator, device=self.execution_device)

    def __call__(self, generator):
        with torch.no_grad():
            return self.unet(self.prepare_latents(generator))


def generate(variant, seed=42):
    pipeline = Pipeline(nn.Conv2d(4, 4, 1))
    generator = torch.Generator(device="cuda").manual_seed(seed)
    if variant == "fixed":
        pipeline.unet.to("cuda")
    pipeline(generator)
    print(f"{variant}: ok")


if __name__ == "__main__":
    generate(sys.argv[1])
