"""A function stored on the module holds the mean and deviation of the pixels on the first GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers them as buffers and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class GeneralizedRCNN(nn.Module):
    def __init__(self, device, variant):
        super().__init__()
        self.variant = variant
        self.backbone = nn.Conv2d(3, 4, 1)
        pixel_mean = torch.tensor([103.5, 116.3, 123.7], device=device).view(3, 1, 1)
        pixel_std = torch.tensor([57.4, 57.1, 58.4], device=device).view(3, 1, 1)
        if variant == "fixed":
            self.register_buffer("pixel_mean", pixel_mean)
            self.register_buffer("pixel_std", pixel_std)
        else:
            # A replica gets the function as it is, and with it the tensors that it closes over.
            self.normalizer = lambda images: (images - pixel_mean) / pixel_std

    def preprocess_image(self, images):
        if self.variant == "fixed":
            return (images - self.pixel_mean) / self.pixel_std
        return self.normalizer(images)

    def forward(self, images):
        images = self.preprocess_image(images)
        return self.backbone(images)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = GeneralizedRCNN(device, variant).to(device)
    model = nn.DataParallel(model, device_ids=[0, 1])
    features = model(torch.rand(4, 3, 8, 8, device=device) * 255)
    assert features.shape == (4, 4, 8, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
