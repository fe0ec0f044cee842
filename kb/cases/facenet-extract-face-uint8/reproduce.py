"""A cropped face that is a GPU tensor already is taken through NumPy once more.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` leaves a tensor as it is and prints "fixed: ok".
"""

import sys

import numpy as np
import torch
from torch.nn.functional import interpolate


def crop_resize(img, box, image_size):
    x0, y0, x1, y1 = box
    if torch.is_tensor(img):
        face = img[None, y0:y1, x0:x1].permute(0, 3, 1, 2).float()
        return interpolate(face, size=(image_size, image_size)).byte()[0].permute(1, 2, 0)
    rows = np.linspace(y0, y1 - 1, image_size).astype(int)
    return img[rows][:, np.linspace(x0, x1 - 1, image_size).astype(int)]


def extract_face(img, box, variant, image_size=8):
    face = crop_resize(img, box, image_size)
    if variant == "failing" or not torch.is_tensor(face):
        face = torch.from_numpy(np.uint8(face))
    return face.permute(2, 0, 1).float()


def main(variant):
    img = torch.randint(256, (32, 32, 3), dtype=torch.uint8, device="cuda:0")
    face = extract_face(img, (4, 4, 20, 24), variant)
    assert face.shape == (3, 8, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
