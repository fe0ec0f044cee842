"""A pipeline sends an image to its own device, which is the cpu while its models are offloaded.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks for the execution device and prints "fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload_with_hook
from torch import nn


class AutoencoderKL(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv2d(3, 4, 2, stride=2)

    def forward(self, image):
        return self.encoder(image)


class RFInversionFluxPipeline:
    def __init__(self, variant):
        self.vae, self.transformer = AutoencoderKL(), nn.Conv2d(4, 4, 1)
        self.variant = variant

    @property
    def device(self):
        return next(self.vae.parameters()).device

    @property
    def _execution_device(self):
        return torch.device(self.vae._hf_hook.execution_device)

    def enable_model_cpu_offload(self):
        _, hook = cpu_offload_with_hook(self.vae, "cuda:0")
        cpu_offload_with_hook(self.transformer, "cuda:0", prev_module_hook=hook)

    def encode_image(self, image):
        device = self._execution_device if self.variant == "fixed" else self.device
        image = image.to(device)
        self.vae.to(self._execution_device)
        return self.vae.encoder(image)

    @torch.no_grad()
    def invert(self, image, num_inversion_steps=3):
        latents = self.encode_image(image)
        for _ in range(num_inversion_steps):
            latents = latents - self.transformer(latents) / num_inversion_steps
        return latents


def main(variant):
    pipe = RFInversionFluxPipeline(variant)
    pipe.enable_model_cpu_offload()
    inverted_latents = pipe.invert(torch.rand(1, 3, 8, 8))
    assert inverted_latents.shape == (1, 4, 4, 4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
