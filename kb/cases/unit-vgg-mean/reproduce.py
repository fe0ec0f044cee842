"""A perceptual loss takes the mean of the colours off its images; the mean stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the mean where the images are and prints "fixed: ok".
With the loss switched off (weight 0) both variants run, as the report has it. One convolution
stands for VGG, one for the generator, and the numbers are random.
"""

import sys

import torch
from torch import nn


class PerceptualLoss(nn.Module):
    """Distance of two images behind a fixed network that wants its input without the mean."""

    def __init__(self, mean, variant):
        super().__init__()
        self.mean, self.variant = mean, variant
        self.features = nn.Conv2d(3, 4, kernel_size=3).requires_grad_(False)

    def without_mean(self, images):
        mean = torch.tensor(self.mean, dtype=images.dtype)
        if self.variant == "fixed":
            mean = mean.to(images.device)
        return images - mean.reshape(-1, 1, 1).expand_as(images)

    def forward(self, images, wanted):
        images, wanted = self.without_mean(images), self.without_mean(wanted)
        return nn.functional.mse_loss(self.features(images), self.features(wanted))


def generator_update(generator, loss, weight, images):
    made = generator(images)
    total = nn.functional.l1_loss(made, images)
    if weight > 0:
        total = total + weight * loss(made, images)
    total.backward()


def main(variant):
    torch.manual_seed(0)
    generator = nn.Conv2d(3, 3, kernel_size=1).cuda()
    loss = PerceptualLoss([0.4, 0.5, 0.6], variant).cuda()
    images = torch.rand(2, 3, 8, 8, device="cuda")
    generator_update(generator, loss, 0.0, images)
    print("without the perceptual loss: ok", file=sys.stderr)
    generator_update(generator, loss, 1.0, images)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
