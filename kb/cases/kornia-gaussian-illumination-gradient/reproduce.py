"""An illumination's gradient map is drawn with the parameters, on the cpu, and added as it is.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the gradient to the image first and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def gaussian_illumination_generator(shape, gain, center, sigma):
    batch, channels, height, width = shape
    y = torch.linspace(0, 1, height)[:, None]
    x = torch.linspace(0, 1, width)[None]
    shift = torch.empty(batch, 1, 1).uniform_(*center)
    spread = torch.empty(batch, 1, 1).uniform_(*sigma)
    bump = torch.exp(-(((x - shift) ** 2 + (y - shift) ** 2) / (2 * spread**2)))
    sign = torch.where(torch.rand(batch, 1, 1) < 0.5, -1.0, 1.0)
    gradient = (sign * gain * bump)[:, None].expand(batch, channels, height, width)
    return {"gradient": gradient}


class RandomGaussianIllumination(nn.Module):
    def __init__(self, gain, variant):
        super().__init__()
        self.gain, self.variant = gain, variant

    def _apply_transform(self, image, params):
        gradient = params["gradient"]
        if self.variant == "fixed":
            gradient = gradient.to(image.device, image.dtype)
        return image.add(gradient).clamp(0, 1)

    def forward(self, image):
        params = gaussian_illumination_generator(image.shape, self.gain, (0.1, 0.9), (0.2, 1.0))
        return self._apply_transform(image, params)


def main(variant):
    torch.manual_seed(0)
    images = torch.rand(2, 3, 16, 16, device="cuda")
    out = RandomGaussianIllumination(gain=0.1, variant=variant)(images)
    assert out.is_cuda and out.shape == images.shape
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
