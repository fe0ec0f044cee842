"""An augmentation blends changed and unchanged images with a mask that was drawn on the cpu.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the mask to the images inside the blend and prints "fixed: ok".
``RandomSolarize`` keeps the library's split: parameters first, on the cpu, then the transform.
"""

import sys

import torch
from torch import nn


class BasicAugmentation(nn.Module):
    def __init__(self, p, variant):
        super().__init__()
        self.p, self.variant = p, variant
        self.rng_device = torch.device("cpu")

    def forward_parameters(self, batch_shape):
        size = batch_shape[0]
        return {
            "batch_prob": torch.rand(size, device=self.rng_device) < self.p,
            **self.generate_parameters(size),
        }

    def _blend_by_prob(self, transformed, not_transformed, to_apply):
        if self.variant == "fixed":
            to_apply = to_apply.to(not_transformed.device)
        return torch.where(to_apply[:, None, None, None], transformed, not_transformed)

    def forward(self, images):
        params = self.forward_parameters(images.shape)
        transformed = self.apply_transform(images, params)
        return self._blend_by_prob(transformed, images, params["batch_prob"])


class RandomSolarize(BasicAugmentation):
    def generate_parameters(self, size):
        return {"thresholds": 0.4 + 0.2 * torch.rand(size, device=self.rng_device)}

    def apply_transform(self, images, params):
        thresholds = params["thresholds"].to(images)[:, None, None, None]
        return torch.where(images < thresholds, images, 1.0 - images)


def main(variant):
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    aug = RandomSolarize(p=0.5, variant=variant)
    images = torch.rand(4, 3, 8, 8, device=device)
    assert aug(images).device == images.device
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
