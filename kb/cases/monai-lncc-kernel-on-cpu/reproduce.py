"""A registration loss convolves the GPU's images with a window that it made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the window to the images and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def triangle(size):
    return (size + 1) / 2 - (torch.arange(size) - size // 2).abs()


class LocalNormalizedCrossCorrelationLoss(nn.Module):
    def __init__(self, kernel_size, variant):
        super().__init__()
        window = triangle(kernel_size)
        self.kernel = window[:, None] * window[None, :]
        self.kernel_vol = self.kernel.sum()
        self.variant = variant

    def forward(self, pred, target):
        kernel, kernel_vol = self.kernel, self.kernel_vol
        if self.variant == "fixed":
            kernel, kernel_vol = kernel.to(pred), kernel_vol.to(pred)

        def mean(image):
            return nn.functional.conv2d(image, kernel[None, None], padding="same") / kernel_vol

        cross = mean(pred * target) - mean(pred) * mean(target)
        pred_var = mean(pred * pred) - mean(pred) ** 2
        target_var = mean(target * target) - mean(target) ** 2
        return -(cross * cross / (pred_var * target_var + 1e-3)).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    image_loss = LocalNormalizedCrossCorrelationLoss(kernel_size=5, variant=variant).to(device)
    moving = torch.rand(1, 1, 16, 16, device=device, requires_grad=True)
    fixed_image = torch.rand(1, 1, 16, 16, device=device)
    image_loss(moving, fixed_image).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
