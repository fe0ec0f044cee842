"""A node's helper turns images into NumPy arrays, and an upscaler has left them on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies each image to the cpu first and prints "fixed: ok".
"""

import sys

import numpy as np
import torch
from torch.nn import functional as F


class ImageScaleOnGpu:
    def upscale(self, image):
        image = image.to("cuda").movedim(-1, 1)
        return (F.interpolate(image, scale_factor=2, mode="nearest").movedim(1, -1),)


def tensor2cv2(image, variant):
    if image.dim() == 4:
        image = image.squeeze(0)
    if variant == "fixed":
        image = image.cpu()
    npimage = image.numpy()
    return (npimage * 255).astype(np.uint8)[..., ::-1]


class FaceSimilarity:
    def __init__(self, variant):
        self.variant = variant

    def face_similarity(self, image_a, image_b):
        a, b = (tensor2cv2(image, self.variant) for image in (image_a, image_b))
        histogram_a, histogram_b = (np.histogram(x, 16, (0, 255))[0] for x in (a, b))
        return (float(np.minimum(histogram_a, histogram_b).sum() / a.size),)


def main(variant):
    torch.manual_seed(0)
    first, second = torch.rand(1, 8, 8, 3), torch.rand(1, 8, 8, 3)
    (first,), (second,) = (ImageScaleOnGpu().upscale(image) for image in (first, second))
    (similarity,) = FaceSimilarity(variant).face_similarity(first, second)
    assert 0 <= similarity <= 1
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
