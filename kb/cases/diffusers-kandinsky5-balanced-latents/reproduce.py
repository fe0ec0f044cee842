"""An image pipeline whose VAE is on another GPU joins image latents with noise.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends the image latents to the noise first and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Kandinsky5I2IPipeline:
    def __init__(self, hf_device_map, variant):
        self.vae = nn.Conv2d(3, 4, 4, stride=4).to(hf_device_map["vae"])
        self.transformer = nn.Conv2d(9, 4, 1).to(hf_device_map["transformer"])
        self.hf_device_map, self.variant = hf_device_map, variant

    @property
    def _execution_device(self):
        return torch.device(self.hf_device_map["transformer"])

    def prepare_latents(self, image, height, width):
        shape = (1, 4, height // 4, width // 4)
        latents = torch.randn(shape, device=self._execution_device)
        image_latents = self.vae(image.to(self.hf_device_map["vae"]))
        if self.variant == "fixed":
            image_latents = image_latents.to(latents.device, latents.dtype)
        visual_cond_mask = torch.ones_like(latents[:, :1])
        return torch.cat([latents, image_latents, visual_cond_mask], dim=1)

    @torch.no_grad()
    def __call__(self, image, num_inference_steps=2):
        latents = self.prepare_latents(image, *image.shape[2:])
        for _ in range(num_inference_steps):
            pred_velocity = self.transformer(latents)
            latents[:, :4] -= pred_velocity / num_inference_steps
        return latents[:, :4]


def main(variant):
    torch.manual_seed(0)
    balanced = {"transformer": "cuda:0", "vae": "cuda:1"}
    pipe = Kandinsky5I2IPipeline(balanced, variant)
    assert pipe(torch.rand(1, 3, 16, 16)).device == torch.device("cuda:0")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
